# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Convolutional networks; small by configuration, the full sizes with the defaults of the papers."""

import torch
from torch import nn
from torch.nn import functional as F


class SmallCnn(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 8, 3, padding=1)
        self.norm = nn.BatchNorm2d(8)
        self.conv2 = nn.Conv2d(8, 16, 3, stride=2, padding=1)
        self.head = nn.Linear(16, 10)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.norm(self.conv1(x))), 2)
        x = F.relu(self.conv2(x)).mean(dim=(2, 3))
        return self.head(x)


class PixelHeads(nn.Module):
    """Convolutions of single elements from and to channels first, nothing else: of many places, and of f32 few."""

    def __init__(self):
        super().__init__()
        self.wide, self.narrow = nn.Conv2d(4, 6, 1).half(), nn.Conv2d(6, 10, 1)

    def forward(self, x, y):
        return F.relu(self.wide(x)), F.gelu(self.narrow(y))


def settle(module: nn.Module) -> nn.Module:
    """Gives batch norms statistics as training leaves them, rather than zeros and ones."""
    for part in module.modules():
        if isinstance(part, (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)):
            nn.init.normal_(part.running_mean, std=0.1)
            nn.init.uniform_(part.running_var, 0.5, 1.5)
            nn.init.uniform_(part.weight, 0.5, 1.5)
            nn.init.normal_(part.bias, std=0.1)
    return module


def conv_norm(inputs: int, outputs: int, size: int, activation=None, **options) -> nn.Sequential:
    parts = [nn.Conv2d(inputs, outputs, size, padding=size // 2, bias=False, **options), nn.BatchNorm2d(outputs)]
    return nn.Sequential(*parts, *([activation] if activation else []))


class Residual(nn.Module):
    """A basic (two 3x3) or bottleneck (1x1, 3x3, 1x1) residual block."""

    def __init__(self, inputs: int, width: int, stride: int, expansion: int):
        super().__init__()
        outputs = width * expansion
        if expansion == 1:
            self.body = nn.Sequential(conv_norm(inputs, width, 3, nn.ReLU(inplace=True), stride=stride),
                                      conv_norm(width, outputs, 3))
        else:
            self.body = nn.Sequential(conv_norm(inputs, width, 1, nn.ReLU(inplace=True)),
                                      conv_norm(width, width, 3, nn.ReLU(inplace=True), stride=stride),
                                      conv_norm(width, outputs, 1))
        plain = stride == 1 and inputs == outputs
        self.shortcut = nn.Identity() if plain else conv_norm(inputs, outputs, 1, stride=stride)
        self.relu = nn.ReLU(inplace=True)

    def forward(self, x):
        return self.relu(self.body(x) + self.shortcut(x))


class ResNet(nn.Module):
    def __init__(self, depths=(3, 4, 6, 3), width: int = 64, expansion: int = 4, classes: int = 1000):
        super().__init__()
        self.stem = nn.Sequential(conv_norm(3, width, 7, nn.ReLU(inplace=True), stride=2), nn.MaxPool2d(3, 2, padding=1))
        blocks, inputs = [], width
        for stage, depth in enumerate(depths):
            for index in range(depth):
                stride = 2 if stage > 0 and index == 0 else 1
                blocks.append(Residual(inputs, width << stage, stride, expansion))
                inputs = (width << stage) * expansion
        self.blocks = nn.Sequential(*blocks)
        self.pool = nn.AdaptiveAvgPool2d((1, 1))
        self.head = nn.Linear(inputs, classes)

    def forward(self, x):
        return self.head(torch.flatten(self.pool(self.blocks(self.stem(x))), 1))


def resnet50():
    return settle(ResNet())


def resnet_basic():
    return settle(ResNet((1, 1), width=8, expansion=1, classes=10))


def resnet_bottleneck():
    return settle(ResNet((1, 2), width=4, expansion=4, classes=10))


class InvertedResidual(nn.Module):
    def __init__(self, inputs: int, outputs: int, stride: int, expansion: int):
        super().__init__()
        hidden = inputs * expansion
        expand = [conv_norm(inputs, hidden, 1, nn.ReLU6(inplace=True))] if expansion != 1 else []
        self.body = nn.Sequential(
            *expand, conv_norm(hidden, hidden, 3, nn.ReLU6(inplace=True), stride=stride, groups=hidden),
            conv_norm(hidden, outputs, 1))
        self.residual = stride == 1 and inputs == outputs

    def forward(self, x):
        return x + self.body(x) if self.residual else self.body(x)


MOBILENET_V2 = ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1))


class MobileNetV2(nn.Module):
    """`settings` rows: expansion, channels, repeats, stride."""

    def __init__(self, settings=MOBILENET_V2, first: int = 32, last: int = 1280, classes: int = 1000):
        super().__init__()
        layers = [conv_norm(3, first, 3, nn.ReLU6(inplace=True), stride=2)]
        inputs = first
        for expansion, outputs, repeats, stride in settings:
            for index in range(repeats):
                layers.append(InvertedResidual(inputs, outputs, stride if index == 0 else 1, expansion))
                inputs = outputs
        layers.append(conv_norm(inputs, last, 1, nn.ReLU6(inplace=True)))
        self.features = nn.Sequential(*layers)
        self.classifier = nn.Sequential(nn.Dropout(0.2), nn.Linear(last, classes))

    def forward(self, x):
        x = F.adaptive_avg_pool2d(self.features(x), (1, 1)).flatten(1)
        return self.classifier(x)


def mobilenet_v2():
    return settle(MobileNetV2())


def mobilenet_v2_small():
    return settle(MobileNetV2(((1, 8, 1, 1), (4, 12, 2, 2)), first=8, last=32, classes=10))


class SqueezeExcite(nn.Module):
    def __init__(self, width: int):
        super().__init__()
        self.reduce = nn.Conv2d(width, width // 4, 1)
        self.expand = nn.Conv2d(width // 4, width, 1)

    def forward(self, x):
        return x * torch.sigmoid(self.expand(F.silu(self.reduce(x.mean((2, 3), keepdim=True)))))


def efficient_block():
    """A fused stem, a depthwise stage with squeeze-excitation and hard activations."""
    return settle(nn.Sequential(
        conv_norm(3, 8, 3, nn.SiLU(inplace=True), stride=2), conv_norm(8, 16, 1, nn.Hardswish(inplace=True)),
        conv_norm(16, 16, 5, nn.SiLU(inplace=True), groups=16), SqueezeExcite(16), conv_norm(16, 8, 1),
        nn.Hardsigmoid(), nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(32, 5)))


class UNet(nn.Module):
    """Encoder and decoder with skip connections; transposed convolutions up."""

    def __init__(self, width: int = 8):
        super().__init__()
        self.down1 = conv_norm(3, width, 3, nn.ReLU(inplace=True))
        self.down2 = conv_norm(width, 2 * width, 3, nn.ReLU(inplace=True))
        self.middle = conv_norm(2 * width, 2 * width, 3, nn.ReLU(inplace=True))
        self.up2 = nn.ConvTranspose2d(2 * width, 2 * width, 2, stride=2)
        self.join2 = conv_norm(4 * width, width, 3, nn.ReLU(inplace=True))
        self.up1 = nn.ConvTranspose2d(width, width, 2, stride=2)
        self.join1 = conv_norm(2 * width, width, 3, nn.ReLU(inplace=True))
        self.head = nn.Conv2d(width, 2, 1)

    def forward(self, x):
        a = self.down1(x)
        b = self.down2(F.max_pool2d(a, 2))
        c = self.middle(F.max_pool2d(b, 2))
        x = self.join2(torch.cat([self.up2(c), b], dim=1))
        return self.head(self.join1(torch.cat([self.up1(x), a], dim=1)))


def unet():
    return settle(UNet())


class ConvNextBlock(nn.Module):
    def __init__(self, width: int):
        super().__init__()
        self.depthwise = nn.Conv2d(width, width, 7, padding=3, groups=width)
        self.norm = nn.LayerNorm(width, eps=1e-6)
        self.up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)
        self.scale = nn.Parameter(torch.full((width,), 0.1))

    def forward(self, x):
        y = self.norm(self.depthwise(x).permute(0, 2, 3, 1))
        y = self.scale * self.down(F.gelu(self.up(y)))
        return x + y.permute(0, 3, 1, 2)


class ChannelNorm(nn.LayerNorm):
    """Layer norm over the channels of NCHW."""

    def forward(self, x):
        return super().forward(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)


def convnext():
    return nn.Sequential(nn.Conv2d(3, 8, 4, stride=4), ChannelNorm(8), ConvNextBlock(8), ChannelNorm(8),
                         nn.Conv2d(8, 16, 2, stride=2), ConvNextBlock(16), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
                         nn.LayerNorm(16), nn.Linear(16, 10))


def squeezenet():
    class Fire(nn.Module):
        def __init__(self, inputs, squeeze, expand):
            super().__init__()
            self.squeeze = nn.Conv2d(inputs, squeeze, 1)
            self.narrow = nn.Conv2d(squeeze, expand, 1)
            self.wide = nn.Conv2d(squeeze, expand, 3, padding=1)

        def forward(self, x):
            x = F.relu(self.squeeze(x))
            return torch.cat([F.relu(self.narrow(x)), F.relu(self.wide(x))], dim=1)

    return nn.Sequential(nn.Conv2d(3, 8, 3, stride=2), nn.ReLU(inplace=True), nn.MaxPool2d(3, 2, ceil_mode=True),
                         Fire(8, 4, 8), Fire(16, 4, 8), nn.Dropout(0.5), nn.Conv2d(16, 10, 1), nn.ReLU(inplace=True),
                         nn.AdaptiveAvgPool2d((1, 1)), nn.Flatten())


class DenseNet(nn.Module):
    def __init__(self, growth: int = 6):
        super().__init__()
        self.stem = nn.Conv2d(3, 8, 3, padding=1)
        self.layers = nn.ModuleList(
            [nn.Sequential(nn.BatchNorm2d(8 + i * growth), nn.ReLU(), nn.Conv2d(8 + i * growth, growth, 3, padding=1))
             for i in range(3)])
        self.head = nn.Linear(8 + 3 * growth, 10)

    def forward(self, x):
        features = [self.stem(x)]
        for layer in self.layers:
            features.append(layer(torch.cat(features, dim=1)))
        return self.head(F.avg_pool2d(torch.cat(features, dim=1), 4).mean((2, 3)))


def densenet():
    return settle(DenseNet())


class ShuffleBlock(nn.Module):
    """A grouped convolution and a channel shuffle."""

    def __init__(self):
        super().__init__()
        self.group = nn.Conv2d(12, 12, 1, groups=3)
        self.depth = nn.Conv2d(12, 12, 3, padding=1, groups=12)

    def forward(self, x):
        y = F.channel_shuffle(F.relu(self.group(x)), 3)
        return torch.cat([self.depth(y), F.avg_pool2d(x, 3, stride=1, padding=1)], dim=1)


class SuperResolution(nn.Module):
    """Sub-pixel convolution."""

    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 12, 5, padding="same", padding_mode="reflect")
        self.conv2 = nn.Conv2d(12, 8, 3, padding="same", dilation=2)
        self.conv3 = nn.Conv2d(8, 9, 3, padding=1)

    def forward(self, x):
        x = torch.tanh(self.conv2(torch.tanh(self.conv1(x))))
        return torch.clamp(F.pixel_shuffle(self.conv3(x), 3), -0.5, 0.5)


class Pyramid(nn.Module):
    """A feature pyramid with nearest and bilinear upsampling, dynamic image sizes."""

    def __init__(self):
        super().__init__()
        self.c1 = nn.Conv2d(3, 6, 3, stride=2, padding=1)
        self.c2 = nn.Conv2d(6, 12, 3, stride=2, padding=1)
        self.lateral = nn.Conv2d(6, 8, 1)
        self.top = nn.Conv2d(12, 8, 1)
        self.head = nn.Conv2d(8, 3, 3, padding=1)

    def forward(self, x):
        a = F.relu(self.c1(x))
        b = F.relu(self.c2(a))
        fine = self.lateral(a) + F.interpolate(self.top(b), scale_factor=2.0, mode="nearest")
        scores = F.interpolate(self.head(fine), scale_factor=2.0, mode="bilinear", align_corners=False)
        return scores, torch.softmax(scores, dim=1).argmax(dim=1)


def style_transfer():
    """Reflection padding, instance norm and nearest upsampling."""
    return nn.Sequential(nn.ReflectionPad2d(2), nn.Conv2d(3, 6, 5), nn.InstanceNorm2d(6, affine=True), nn.PReLU(6),
                         nn.Conv2d(6, 8, 3, stride=2, padding=1), nn.InstanceNorm2d(8), nn.LeakyReLU(0.2),
                         nn.Upsample(scale_factor=2, mode="nearest"), nn.ReplicationPad2d(1), nn.Conv2d(8, 3, 3),
                         nn.Tanh())


def generator():
    """A DCGAN generator."""
    return settle(nn.Sequential(
        nn.ConvTranspose2d(10, 16, 4, 1, 0, bias=False), nn.BatchNorm2d(16), nn.ReLU(True),
        nn.ConvTranspose2d(16, 8, 4, 2, 1, bias=False), nn.BatchNorm2d(8), nn.ReLU(True),
        nn.ConvTranspose2d(8, 3, 3, 2, 1, output_padding=1), nn.Tanh()))


def video():
    """A three-dimensional convolutional network."""
    return settle(nn.Sequential(
        nn.Conv3d(3, 6, 3, padding=1), nn.BatchNorm3d(6), nn.ReLU(), nn.MaxPool3d((1, 2, 2)),
        nn.Conv3d(6, 8, (3, 1, 1), padding=(1, 0, 0), groups=2), nn.ReLU(), nn.AdaptiveAvgPool3d(1), nn.Flatten(),
        nn.Linear(8, 4)))


class PointNet(nn.Module):
    """Shared point-wise layers, a learned transform and a maximum over the points."""

    def __init__(self):
        super().__init__()
        self.transform = nn.Sequential(nn.Conv1d(3, 16, 1), nn.ReLU(), nn.AdaptiveMaxPool1d(1), nn.Flatten(), nn.Linear(16, 9))
        self.shared = nn.Sequential(nn.Conv1d(3, 16, 1), nn.BatchNorm1d(16), nn.ReLU(), nn.Conv1d(16, 32, 1), nn.BatchNorm1d(32))
        self.head = nn.Linear(32, 5)

    def forward(self, points):
        matrix = self.transform(points).view(-1, 3, 3) + torch.eye(3)
        x = self.shared(torch.bmm(points.transpose(1, 2), matrix).transpose(1, 2))
        return F.log_softmax(self.head(torch.max(x, 2)[0]), dim=1), matrix


def pointnet():
    return settle(PointNet())


class Detector(nn.Module):
    """A single-shot head: anchors, box decoding and the best boxes by score."""

    def __init__(self):
        super().__init__()
        self.body = nn.Conv2d(3, 8, 3, stride=4, padding=1)
        self.boxes = nn.Conv2d(8, 2 * 4, 1)
        self.scores = nn.Conv2d(8, 2 * 3, 1)

    def forward(self, x):
        x = F.mish(self.body(x))
        n, _, height, width = x.shape
        ys, xs = torch.meshgrid(torch.arange(height), torch.arange(width), indexing="ij")
        centres = torch.stack([xs, ys], dim=-1).reshape(-1, 1, 2).float() + 0.5
        offsets = self.boxes(x).view(n, 2, 4, -1).permute(0, 3, 1, 2)
        middle = (offsets[..., :2].sigmoid() + centres) * 4
        half = offsets[..., 2:].clamp(max=4).exp()
        boxes = torch.cat([middle - half, middle + half], dim=-1).flatten(1, 2)
        scores = self.scores(x).view(n, 2, 3, -1).permute(0, 3, 1, 2).flatten(1, 2).softmax(-1)
        best, label = scores.max(dim=-1)
        top, index = torch.topk(best, 5, dim=1)
        return torch.gather(boxes, 1, index[..., None].expand(-1, -1, 4)), top, torch.gather(label, 1, index)


class GivenFilters(nn.Module):
    """Convolutions whose filters come with each call, with channels enough for any way to multiply them; outer
    products keep what is stored small."""

    def forward(self, channels, places, outputs, filters):
        x = channels * places
        w = outputs * filters
        y = F.relu(F.conv2d(x, w, padding=1))
        z = F.relu(F.conv2d(y, w, outputs.flatten(), padding=1))
        return z[:, ::16], F.conv2d(y, w, stride=2)[:, ::16]


class AnySize(nn.Module):
    """Resampling and pooling of images whose size is known only when they are given."""

    def forward(self, x):
        half = F.interpolate(x, scale_factor=0.5, mode="bilinear", align_corners=False)
        back = F.interpolate(half, size=x.shape[-2:], mode="nearest")
        smooth = F.interpolate(half, size=x.shape[-2:], mode="bicubic", align_corners=True)
        mean = F.adaptive_avg_pool2d(x, 1)
        return x - back + smooth * mean, F.adaptive_max_pool2d(x, (2, 3)), F.adaptive_avg_pool2d(x, (3, 2))
