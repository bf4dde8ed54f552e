# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every model: its name, builder, inputs, dynamic dimensions and tags.

Tags: `checked_in` models are in the repository, `extra` ones are made by `make models`, `full` are
the full-size ones for measuring, `operators` the case tables of operators, `program` the programs
written as text. Those tagged `torch_2_9` are in the repository too, but as torch 2.9 writes them.
"""

import functools

import torch

from . import (audio, basic, custom_ops, diffusion, graph_nets, language, recommender, recurrent, training, training_library,
               transformer, vision)
from . import transformers_models as hf
from .model import Model
from .more_transformers import MORE
from .operators import FAMILIES

EXTRA = {"extra"}
FULL = {"full"}
TORCH_2_9 = {"torch_2_9"}


def edges(count: str, nodes: str):
    """A list of edges between existing nodes; both sizes are names or numbers."""

    def make(generator, sizes, step):
        rows, limit = sizes.get(count, count), sizes.get(nodes, nodes)
        return torch.randint(0, limit, (2, rows), generator=generator)

    make.axes = {1: count} if isinstance(count, str) else {}
    return make


def values(*rows):
    """A given integer tensor."""

    def make(generator, sizes, step):
        return torch.tensor(rows)

    return make


def step_position(length: int = 1):
    """The positions of the tokens of the n-th call."""

    def make(generator, sizes, step):
        return torch.arange(step * length, (step + 1) * length)

    return make


BATCH = {"dims": {"B": (1, 64)}, "sizes": [{"B": 3}, {"B": 1}, {"B": 5}]}
TEXT = {"dims": {"B": (1, 16), "S": (2, 32)}, "sizes": [{"B": 2, "S": 7}, {"B": 1, "S": 13}, {"B": 3, "S": 4}]}
IDS = {"input_ids": "i64[B,S]<60", "attention_mask": "i64[B,S]<2"}
TOKENS = {"input_ids": "i64[2,7]<60"}
PIXELS = {"pixel_values": "f32[2,3,16,16]"}
CUSTOM_KERNELS = [f"examples/kernels/{name}.cpp" for name in ("softmax", "gemm", "layer_norm")]

BASIC = [
    Model("mlp_classifier", basic.Classifier, ["f32[B,28,28]"], dims={"B": (1, 64)},
          sizes=[{"B": 4}, {"B": 1}, {"B": 7}], verbatim=True),
    Model("readme", basic.readme, ["f32[B,4]"], dims={"B": (1, 64)}, sizes=[{"B": 5}, {"B": 1}]),
    Model("toy_matmul", basic.Toy, ["f16[8,16]", "f16[32,16]", "f32[32]"], verbatim=True),
    Model("many_rows_mlp", basic.ManyRowsMlp, ["f32[200,24]"]),
    Model("small_mlp", basic.SmallMlp, ["f32[5,16]"], verbatim=True),
    Model("gated_linear_unit", basic.GatedLinearUnit, ["f32[B,24]"], **BATCH),
    Model("lora_mlp", basic.LoraMlp, ["f32[B,32]"], **BATCH),
    Model("bias_relu", basic.BiasRelu, ["f32[16,32]", "f32[32]"]),
    Model("chain_sigmoid", functools.partial(basic.ActivationChain, 24, "sigmoid"), ["f32[6,24]", "f32[6,24]"]),
    Model("chain_relu", functools.partial(basic.ActivationChain, 24, "relu"), ["f32[B,24]", "f32[B,24]"], **BATCH),
    Model("softmax_after_linear", basic.SoftmaxAfterLinear, ["f32[64,64]"], verbatim=True),
    Model("softmax_head", custom_ops.Head, ["f32[M,20]"], dims={"M": (1, 1000)}, sizes=[{"M": 3}],
          kernels=["examples/kernels/softmax.cpp"]),
    Model("custom_ops", custom_ops.CustomOps, ["f32[M,20]"], dims={"M": (1, 1000)}, sizes=[{"M": 37}, {"M": 1}],
          kernels=CUSTOM_KERNELS),
    Model("custom_ops_static", custom_ops.CustomOps, ["f32[33,20]"], kernels=CUSTOM_KERNELS),
    Model("nerf", basic.Nerf, ["f32[N,3]", "f32[N,3]"], dims={"N": (1, 4096)}, sizes=[{"N": 20}, {"N": 1}]),
    Model("deep_sets", basic.DeepSets, ["f32[B,N,4]", "bool[B,N]"], dims={"B": (1, 8), "N": (2, 64)},
          sizes=[{"B": 2, "N": 5}, {"B": 3, "N": 11}]),
    Model("coupling_flow", basic.Coupling, ["f32[7,6]"]),
    Model("mixer_bf16", basic.MixerBlock, ["bf16[2,8,16]"]),
    Model("mlp_bf16", basic.WideMlp, ["bf16[B,32]"], **BATCH),
    Model("linear_chain_f16", basic.LinearChain, ["f16[64,256]"]),
]

PROGRAMS = [
    Model("classifier_step", basic.ClassifierText, ["f32[10,784]~0.05", "f32[10]", "f32[16,28,28]"], text=True,
          tags={"program"}),
]

LANGUAGE = [
    Model("counter", language.Counter, ["f32[3,4]"], steps=3),
    Model("moving_norm", language.MovingNorm, ["f32[5,6]"], steps=3, train=True),
    Model("ring_buffer", language.Ring, ["f32[1,3]"], steps=7),
    Model("input_mutation", language.InputMutation, ["f32[4,5]", "f32[5]"], steps=2),
    Model("cond", language.Cond, ["f32[3,4]"], sizes=[{}, {}, {}]),
    Model("cond_shape", language.CondShape, ["f32[N,3]"], dims={"N": (2, 16)}, sizes=[{"N": 7}, {"N": 4}]),
    Model("tied_weights", language.TiedWeights, ["i64[3,4]<20"]),
    Model("weight_views", language.WeightViews, ["f32[4,6]"]),
    Model("sizes", language.Sizes, ["f32[N,M]", "f32[K,M]"], dims={"N": (2, 20), "M": (2, 20), "K": (1, 20)},
          sizes=[{"N": 3, "M": 4, "K": 2}, {"N": 5, "M": 2, "K": 1}]),
    Model("derived_size", language.DerivedSize, ["f32[3,2*H]"], dims={"H": (1, 10)}, sizes=[{"H": 4}, {"H": 1}]),
    Model("int_input", language.IntInput, ["f32[4]", "int=3"]),
    Model("checks", language.Checks, ["f32[6,2]", values(1)], sizes=[{}]),
    Model("nested_outputs", language.NestedOutputs, ["f32[3]", "f32[3]"]),
    Model("quantised", language.Quantised, ["f32[4,16]"]),
    Model("sgd_step", language.SgdStep, ["f32[8,5]", "f32[8,1]"], steps=4),
    Model("adamw_step", language.AdamWStep, ["f32[40,30]", "f32[40,30]"], steps=3),
    Model("masked_cache", language.MaskedCache, ["f32[2,6]", "i64[1]<9"], steps=3),
]

VISION = [
    Model("cnn", vision.SmallCnn, ["f32[2,3,16,16]"], verbatim=True),
    Model("pixel_heads", vision.PixelHeads, ["f16[2,4,28,32]", "f32[2,6,9,7]"]),
    Model("resnet_basic", vision.resnet_basic, ["f32[1,3,32,32]"]),
    Model("resnet_bottleneck", vision.resnet_bottleneck, ["f32[B,3,24,24]"], dims={"B": (1, 8)},
          sizes=[{"B": 2}, {"B": 1}]),
    Model("resnet_basic_core", vision.resnet_basic, ["f32[1,3,24,24]"], form="core"),
    Model("mobilenet_v2_small", vision.mobilenet_v2_small, ["f32[1,3,24,24]"]),
    Model("efficient_block", vision.efficient_block, ["f32[2,3,16,16]"]),
    Model("unet", vision.unet, ["f32[1,3,16,24]"]),
    Model("convnext", vision.convnext, ["f32[1,3,24,24]"]),
    Model("squeezenet", vision.squeezenet, ["f32[1,3,21,21]"]),
    Model("densenet", vision.densenet, ["f32[2,3,12,12]"]),
    Model("shuffle_block", vision.ShuffleBlock, ["f32[1,12,7,7]"]),
    Model("super_resolution", vision.SuperResolution, ["f32[1,1,11,9]"]),
    Model("pyramid", vision.Pyramid, ["f32[1,3,4*H,4*W]"], dims={"H": (2, 16), "W": (2, 16)},
          sizes=[{"H": 4, "W": 3}, {"H": 2, "W": 5}]),
    Model("style_transfer", vision.style_transfer, ["f32[1,3,12,12]"]),
    Model("generator", vision.generator, ["f32[2,10,1,1]"]),
    Model("video", vision.video, ["f32[1,3,4,8,8]"]),
    Model("pointnet", vision.pointnet, ["f32[2,3,17]"]),
    Model("given_filters", vision.GivenFilters, ["f32[B,64,1,1]", "f32[B,1,14,13]", "f32[64,1,1,1]", "f32[1,64,3,3]"],
          dims={"B": (1, 8)}, sizes=[{"B": 2}, {"B": 1}]),
    Model("any_size", vision.AnySize, ["f32[1,2,H,W]"], dims={"H": (4, 64), "W": (4, 64)},
          sizes=[{"H": 8, "W": 7}, {"H": 13, "W": 5}, {"H": 6, "W": 16}]),
    Model("detector", vision.Detector, ["f32[2,3,16,16]"]),
    Model("vae_decoder", diffusion.VaeDecoder, ["f32[1,4,6,6]"]),
    Model("sdxl_block", diffusion.TransformerBlock, ["f32[2,9,16]", "f32[2,7,24]"]),
    Model("sdxl_block_f16", diffusion.half_block, ["f16[2,9,16]", "f16[2,7,24]"]),
    Model("sdxl_unet", diffusion.DiffusionUNet, ["f32[2,4,8,8]", "i64[2]<1000", "f32[2,5,12]", "f32[2,6]"]),
    Model("dit_block", diffusion.DitBlock, ["f32[2,6,16]", "f32[2,16]"]),
]

TRANSFORMER = [
    Model("transformer_block", transformer.Block, ["f32[2,7,32]"], verbatim=True),
    Model("transformer_block_core", functools.partial(transformer.Block, 16, 2), ["f32[B,S,16]"], form="core",
          dims={"B": (1, 8), "S": (2, 32)}, sizes=[{"B": 2, "S": 7}, {"B": 1, "S": 12}]),
    Model("cached_attention", transformer.CachedAttention, ["f32[1,1,16]", step_position()], steps=4),
    Model("encoder_decoder", transformer.EncoderDecoder, ["f32[2,6,16]", "f32[2,5,16]", "bool[2,6]"]),
    Model("grouped_queries", transformer.GroupedQueries, ["f32[B,S,32]"], dims={"B": (1, 8), "S": (2, 32)},
          sizes=[{"B": 2, "S": 7}, {"B": 1, "S": 12}]),
    Model("grouped_queries_bf16", transformer.grouped_queries_bf16, ["bf16[1,7,32]"]),
    Model("grown_cache", transformer.GrownCache, ["bf16[1,1,64]", "bf16[1,2,S,32]", "bf16[1,2,S,32]"],
          dims={"S": (1, 4096)}, sizes=[{"S": 7}, {"S": 1}, {"S": 130}]),
    Model("top_two_experts", transformer.TopTwoExperts, ["f32[2,5,12]"]),
    Model("alibi", transformer.AlibiAttention, ["f32[2,S,16]"], dims={"S": (2, 32)}, sizes=[{"S": 6}, {"S": 11}]),
]

RECURRENT = [
    Model("lstm", recurrent.Recurrent, ["f32[5,2,8]"], verbatim=True),
    Model("gru", recurrent.gru, ["f32[2,5,8]"]),
    Model("rnn_tanh", recurrent.rnn_tanh, ["f32[5,2,8]"]),
    Model("rnn_relu", recurrent.rnn_relu, ["f32[3,2,8]"]),
    Model("lstm_deep", recurrent.lstm_deep, ["f32[2,4,8]"]),
    Model("gru_wide", recurrent.WideGru, ["f32[7,B,4]"], **BATCH),
    Model("lstm_projected", recurrent.lstm_projected, ["f32[4,B,8]"], **BATCH),
    Model("gru_deep", recurrent.gru_deep, ["f32[4,2,8]"]),
    Model("lstm_sequence", recurrent.lstm_sequence, ["f32[B,5,8]"], dims={"B": (1, 16)},
          sizes=[{"B": 2}, {"B": 1}, {"B": 7}]),
    Model("lstm_state", recurrent.WithState, ["f32[4,B,6]", "f32[1,B,10]", "f32[1,B,10]"], **BATCH),
    Model("tagger", recurrent.Tagger, ["i64[2,6]<50"]),
    Model("last_states_2_9", recurrent.LastStates, ["f32[3,B,3]"], dims={"B": (1, 16)}, tags=TORCH_2_9,
          sizes=[{"B": 2}, {"B": 1}]),
    Model("cells", recurrent.Cells, ["f32[3,2,5]"]),
    Model("attentive_decoder", recurrent.AttentiveDecoder, ["f32[2,5,6]", "f32[2,3,4]"]),
    Model("streaming_gru", recurrent.StreamingGru, ["f32[1,4]"], steps=4),
]

GRAPH_SIZES = {"dims": {"N": (2, 100), "E": (2, 1000)}, "sizes": [{"N": 7, "E": 15}, {"N": 4, "E": 9}]}
GRAPHS = [
    Model("gcn", graph_nets.Gcn, ["f32[N,5]", edges("E", "N")], **GRAPH_SIZES),
    Model("gat", graph_nets.Gat, ["f32[N,5]", edges("E", "N")], **GRAPH_SIZES),
    Model("sage", graph_nets.Sage, ["f32[9,5]", edges(20, 9), "i64[9]<3"]),
    Model("gin", graph_nets.Gin, ["f32[2,6,4]", "bool[2,6,6]"]),
]

DLRM = {"dims": {"B": (1, 4096)}, "sizes": [{"B": 2}, {"B": 1}, {"B": 17}]}
RECOMMENDER = [
    Model("dlrm_dot", recommender.dlrm_dot, ["f32[B,13]", "i64[B,5]<1000000007"], **DLRM),
    Model("dlrm_outer", recommender.dlrm_outer, ["f32[B,13]", "i64[B,5]<1000000007"], **DLRM),
    Model("two_tower", recommender.TwoTower, ["i64[10]<30", values(0, 3, 3, 7), "i64[5]<30"]),
    Model("deep_fm", recommender.DeepFm, ["i64[6,4]<40"]),
    Model("dlrm_dot_full", recommender.dlrm_dot_full, ["f32[B,13]", "i64[B,26]<1000000007"], tags=FULL,
          dims={"B": (1, 4096)}, sizes=[{"B": 2}, {"B": 1}, {"B": 128}, {"B": 2048}]),
]

AUDIO = [
    Model("wavenet", audio.WaveNet, ["f32[1,1,T]"], dims={"T": (8, 256)}, sizes=[{"T": 40}, {"T": 23}]),
    Model("conformer", audio.Conformer, ["f32[2,9,16]"]),
    Model("speech_commands", audio.speech_commands, ["f32[1,1,256]"]),
    Model("vocoder", audio.Vocoder, ["f32[1,6,7]"]),
]

TRAINING = [
    Model("train_classifier", training.ClassifierStep, ["f32[16,28,28]", "i64[16]<10"], form="joint"),
    Model("train_mse", training.mse, ["f32[4,6]", "f32[4,2]"], form="joint"),
    Model("train_cnn", training.cnn, ["f32[4,3,8,8]", "i64[4]<10"], form="joint", steps=2),
    Model("train_resnet", training.resnet, ["f32[2,3,16,16]", "i64[2]<5"], form="joint", tags=EXTRA),
    Model("train_attention", training.Attention, ["f32[2,5,12]", "f32[2,5,12]"], form="joint"),
    Model("train_fused_attention", training.FusedAttention, ["f32[2,5,8]", "f32[2,5,8]"], form="joint"),
    Model("train_language_model", training.LanguageModel, ["i64[2,6]<20"], form="joint"),
    Model("train_gcn", training.GcnLoss, ["f32[7,5]", edges(15, 7), "i64[7]<3"], form="joint"),
    Model("train_cells", training.RnnLoss, ["f32[2,2,5]", "f32[2,6]"], form="joint"),
    Model("train_autoencoder", training.autoencoder, ["f32[2,1,8,8]"], form="joint"),
    Model("train_distillation", training.Distillation, ["f32[6,8]"], form="joint"),
    Model("train_bert", training_library.bert, ["i64[2,6]<60", "i64[2]<2"], form="joint", tags=EXTRA),
    Model("train_llama", training_library.llama, ["i64[2,6]<60", "i64[2,6]<60"], form="joint", tags=EXTRA),
    Model("train_vit", training_library.vit, ["f32[2,3,16,16]", "i64[2]<2"], form="joint", tags=EXTRA),
    Model("train_dlrm_dot", recommender.dlrm_loss, ["f32[4,13]", "i64[4,5]<1000000007", "f32[4]<1"], form="joint"),
    Model("train_dlrm_outer", recommender.dlrm_outer_loss, ["f32[4,13]", "i64[4,5]<1000000007", "f32[4]<1"],
          form="joint"),
]

LIBRARY = [
    Model("bert", hf.build("BertModel", **hf.ENCODER), IDS, **TEXT),
    Model("bert_core", hf.build("BertModel", **hf.ENCODER | {"num_hidden_layers": 1}), TOKENS, form="core"),
    Model("distilbert", hf.build("DistilBertForSequenceClassification", vocab_size=60, dim=16, n_layers=1, n_heads=2,
                                 hidden_dim=24, max_position_embeddings=40), {"input_ids": "i64[2,7]<60"}),
    Model("roberta", hf.build("RobertaModel", **hf.ENCODER), IDS, tags=EXTRA, **TEXT),
    Model("electra", hf.build("ElectraModel", embedding_size=16, **hf.ENCODER), IDS, tags=EXTRA, **TEXT),
    Model("albert", hf.build("AlbertModel", embedding_size=16, **hf.ENCODER), TOKENS, tags=EXTRA),
    Model("deberta_v2", hf.build("DebertaV2Model", relative_attention=True, position_buckets=8,
                                 pos_att_type=["p2c", "c2p"], **hf.ENCODER), TOKENS, tags=EXTRA),
    Model("mpnet", hf.build("MPNetModel", **hf.ENCODER), TOKENS, tags=EXTRA),
    Model("modernbert", hf.build("ModernBertModel", pad_token_id=0, **hf.ENCODER), TOKENS, tags=EXTRA),
    Model("gpt2", hf.build("GPT2LMHeadModel", **hf.GPT2), {"input_ids": "i64[B,S]<60"}, **TEXT),
    Model("gpt2_cached", hf.cached(hf.build("GPT2LMHeadModel", **hf.GPT2)), ["i64[1,1]<60", step_position()], steps=4),
    Model("llama", hf.build("LlamaForCausalLM", **hf.DECODER), {"input_ids": "i64[B,S]<60"}, **TEXT),
    Model("llama_cached", hf.cached(hf.build("LlamaForCausalLM", **hf.DECODER)), ["i64[1,1]<60", step_position()],
          steps=4),
    Model("mistral", hf.build("MistralForCausalLM", **hf.DECODER), TOKENS, tags=EXTRA),
    Model("qwen2", hf.build("Qwen2ForCausalLM", **hf.DECODER), TOKENS, tags=EXTRA),
    Model("qwen3", hf.build("Qwen3ForCausalLM", head_dim=16, **hf.DECODER), TOKENS, tags=EXTRA),
    Model("gemma", hf.build("GemmaForCausalLM", head_dim=16, **hf.DECODER), TOKENS, tags=EXTRA),
    Model("gemma2", hf.build("Gemma2ForCausalLM", head_dim=16, **hf.DECODER), TOKENS, tags=EXTRA),
    Model("phi3", hf.build("Phi3ForCausalLM", **hf.DECODER), TOKENS, tags=EXTRA),
    Model("gpt_neox", hf.build("GPTNeoXForCausalLM", **hf.DECODER), TOKENS, tags=EXTRA),
    Model("bloom", hf.build("BloomForCausalLM", vocab_size=60, hidden_size=16, n_layer=2, n_head=2, use_cache=False),
          TOKENS, tags=EXTRA),
    Model("opt", hf.build("OPTForCausalLM", ffn_dim=24, word_embed_proj_dim=16, **hf.DECODER), TOKENS, tags=EXTRA),
    Model("falcon", hf.build("FalconForCausalLM", **hf.DECODER), TOKENS, tags=EXTRA),
    Model("mamba", hf.build("MambaForCausalLM", vocab_size=60, hidden_size=16, num_hidden_layers=1, state_size=4,
                            use_cache=False), TOKENS, tags=EXTRA),
    Model("mixtral", hf.build("MixtralForCausalLM", num_local_experts=4, experts_implementation="batched_mm",
                              **hf.DECODER | {"num_hidden_layers": 1}), TOKENS),
    Model("mixtral_grouped", hf.build("MixtralForCausalLM", num_local_experts=4, **hf.DECODER | {"num_hidden_layers": 1}),
          TOKENS),
    Model("qwen3_moe", hf.build("Qwen3MoeForCausalLM", head_dim=16, experts_implementation="batched_mm", **hf.EXPERTS),
          TOKENS, tags=EXTRA),
    Model("t5", hf.build("T5Model", **hf.T5), {"input_ids": "i64[2,6]<60", "decoder_input_ids": "i64[2,4]<60"}),
    Model("t5_encoder", hf.build("T5EncoderModel", **hf.T5), IDS, tags=EXTRA, **TEXT),
    Model("bart", hf.build("BartModel", **hf.BART), {"input_ids": "i64[2,6]<60", "decoder_input_ids": "i64[2,4]<60"},
          tags=EXTRA),
    Model("vit", hf.build("ViTModel", **hf.IMAGE), PIXELS),
    Model("deit", hf.build("DeiTModel", **hf.IMAGE), PIXELS, tags=EXTRA),
    Model("dinov2", hf.build("Dinov2Model", **hf.IMAGE), PIXELS, tags=EXTRA),
    Model("swin", hf.build("SwinModel", **hf.SWIN), {"pixel_values": "f32[1,3,16,16]"}),
    Model("clip_vision", hf.build("CLIPVisionModel", **hf.IMAGE), PIXELS, tags=EXTRA),
    Model("segformer", hf.build("SegformerForSemanticSegmentation", depths=[1, 1], num_encoder_blocks=2,
                                sr_ratios=[4, 2], hidden_sizes=[8, 16], patch_sizes=[7, 3], strides=[4, 2],
                                num_attention_heads=[1, 2], mlp_ratios=[2, 2], decoder_hidden_size=16),
          {"pixel_values": "f32[1,3,32,32]"}, tags=EXTRA),
    Model("mobilevit", hf.build("MobileViTModel", image_size=32, hidden_sizes=[12, 16, 20],
                                neck_hidden_sizes=[4, 8, 12, 16, 16, 16, 16], num_attention_heads=2),
          {"pixel_values": "f32[1,3,64,64]"}, tags=EXTRA),
    Model("convnextv2", hf.build("ConvNextV2Model", depths=[1, 1], hidden_sizes=[8, 12], num_stages=2),
          {"pixel_values": "f32[1,3,32,32]"}, tags=EXTRA),
    Model("whisper_encoder", hf.whisper(**hf.WHISPER), ["f32[1,8,24]"]),
    Model("wav2vec2", hf.build("Wav2Vec2Model", **hf.WAVE), ["f32[1,200]"], tags=EXTRA),
    Model("hubert", hf.build("HubertModel", **hf.WAVE), ["f32[1,200]"], tags=EXTRA),
    Model("audio_spectrogram", hf.build("ASTModel", patch_size=4, num_mel_bins=8, max_length=16, frequency_stride=4,
                                        time_stride=4, **hf.WIDTH), ["f32[1,16,8]"], tags=EXTRA),
]

FULL_SIZE = [
    Model("bert_base", hf.build("BertModel"), {"input_ids": "i64[1,128]<30000", "attention_mask": "i64[1,128]<2"},
          tags=FULL),
    Model("gpt2_small", hf.build("GPT2LMHeadModel", use_cache=False), {"input_ids": "i64[1,128]<50000"}, tags=FULL),
    Model("resnet50", vision.resnet50, ["f32[1,3,224,224]"], tags=FULL),
    Model("mobilenet_v2", vision.mobilenet_v2, ["f32[1,3,224,224]"], tags=FULL),
    Model("toy_matmul_full", basic.Toy, ["f16[1024,512]", "f16[2048,512]", "f32[2048]"], tags=FULL),
    Model("bias_relu_full", basic.BiasRelu, ["f32[128,512]", "f32[512]"], tags=FULL),
]

MODELS = (BASIC + PROGRAMS + LANGUAGE + VISION + TRANSFORMER + RECURRENT + GRAPHS + RECOMMENDER + AUDIO + TRAINING + LIBRARY + MORE
          + FULL_SIZE + FAMILIES)
