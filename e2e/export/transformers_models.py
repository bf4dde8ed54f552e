# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models of the transformers library, by configuration and randomly initialised."""

import torch
from torch import nn


def build(name: str, dtype=torch.float32, **options):
    """A builder of the class `name` with the given fields of its configuration."""

    def make():
        import transformers

        kind = getattr(transformers, name)
        config = kind.config_class(**options)
        return kind(config).to(dtype).eval()

    return make


class CachedDecoder(nn.Module):
    """A decoder that sees some tokens per call; keys and values of earlier calls are mutated buffers."""

    def __init__(self, model, length: int):
        super().__init__()
        from transformers import StaticCache

        self.model = model
        config = model.config
        self.cache = StaticCache(config=config, max_cache_len=length)
        heads = getattr(config, "num_key_value_heads", None) or config.num_attention_heads
        size = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
        self.cache.early_initialization(1, heads, size, torch.float32, torch.device("cpu"))
        for i, layer in enumerate(self.cache.layers):
            self.register_buffer(f"keys_{i}", layer.keys, persistent=False)
            self.register_buffer(f"values_{i}", layer.values, persistent=False)
            # The lengths that newer caches count are given by the positions instead.
            if torch.is_tensor(getattr(layer, "cumulative_length", None)):
                self.register_buffer(f"length_{i}", layer.cumulative_length, persistent=False)

    def forward(self, ids, position):
        for i, layer in enumerate(self.cache.layers):
            layer.keys, layer.values = getattr(self, f"keys_{i}"), getattr(self, f"values_{i}")
            if hasattr(self, f"length_{i}"):
                layer.cumulative_length = getattr(self, f"length_{i}")
        return self.model(input_ids=ids, position_ids=position[None], past_key_values=self.cache, use_cache=True).logits


def cached(builder, length: int = 8):
    return lambda: CachedDecoder(builder(), length)


class AudioEncoder(nn.Module):
    """The encoder of a speech model on log-mel features."""

    def __init__(self, model):
        super().__init__()
        self.encoder = model.get_encoder()

    def forward(self, features):
        return self.encoder(features).last_hidden_state


def whisper(**options):
    return lambda: AudioEncoder(build("WhisperModel", **options)())


WIDTH = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 24}
ENCODER = WIDTH | {"vocab_size": 60, "max_position_embeddings": 40}
DECODER = WIDTH | {"vocab_size": 60, "max_position_embeddings": 40, "num_key_value_heads": 1, "use_cache": False,
                   "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
GPT2 = {"vocab_size": 60, "n_positions": 40, "n_embd": 16, "n_layer": 2, "n_head": 2, "use_cache": False,
        "bos_token_id": 1, "eos_token_id": 2}
T5 = {"vocab_size": 60, "d_model": 16, "d_kv": 8, "d_ff": 24, "num_layers": 1, "num_heads": 2, "use_cache": False,
      "relative_attention_num_buckets": 8, "relative_attention_max_distance": 20}
BART = {"vocab_size": 60, "d_model": 16, "encoder_layers": 1, "decoder_layers": 1, "encoder_attention_heads": 2,
        "decoder_attention_heads": 2, "encoder_ffn_dim": 24, "decoder_ffn_dim": 24, "max_position_embeddings": 40,
        "use_cache": False}
IMAGE = WIDTH | {"image_size": 16, "patch_size": 4}
SWIN = {"image_size": 16, "patch_size": 2, "embed_dim": 8, "depths": [2, 1], "num_heads": [2, 4], "window_size": 4}
WHISPER = {"vocab_size": 60, "num_mel_bins": 8, "d_model": 16, "encoder_layers": 2, "encoder_attention_heads": 2,
           "encoder_ffn_dim": 24, "decoder_layers": 1, "decoder_attention_heads": 2, "decoder_ffn_dim": 24,
           "max_source_positions": 12, "max_target_positions": 12, "pad_token_id": 0, "bos_token_id": 1,
           "eos_token_id": 2, "decoder_start_token_id": 1}
WAVE = WIDTH | {"vocab_size": 30, "conv_dim": [16, 16], "conv_kernel": [10, 3], "conv_stride": [5, 2],
                "num_feat_extract_layers": 2, "num_conv_pos_embeddings": 8, "num_conv_pos_embedding_groups": 4}
EXPERTS = DECODER | {"num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 12}
