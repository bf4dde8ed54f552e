# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Further models of the transformers library, to see what exported programs of users contain."""

from . import transformers_models as hf
from .model import Model

EXTRA = {"extra"}
TOKENS = {"input_ids": "i64[2,7]<60"}
PAIRS = {"input_ids": "i64[2,6]<60", "decoder_input_ids": "i64[2,4]<60"}
PIXELS = {"pixel_values": "f32[1,3,32,32]"}
WAVE = ["f32[1,400]"]

ENCODERS = {
    "xlm_roberta": ("XLMRobertaModel", {}), "camembert": ("CamembertForMaskedLM", {}), "ernie": ("ErnieModel", {}),
    "megatron_bert": ("MegatronBertModel", {}), "rembert": ("RemBertModel", {"input_embedding_size": 16}),
    "convbert": ("ConvBertModel", {"embedding_size": 16, "head_ratio": 1}), "roformer": ("RoFormerModel", {"embedding_size": 16}),
    "squeezebert": ("SqueezeBertModel", {"embedding_size": 16}),
    "bert_generation": ("BertGenerationEncoder", {}), "esm": ("EsmModel", {"pad_token_id": 1, "mask_token_id": 3}),
    "layoutlm": ("LayoutLMModel", {}), "splinter": ("SplinterModel", {}), "eurobert": ("EuroBertModel", {"pad_token_id": 0}),
    "roberta_classifier": ("RobertaForSequenceClassification", {}), "bert_tokens": ("BertForTokenClassification", {}),
    "bert_answers": ("BertForQuestionAnswering", {}), "bert_masked": ("BertForMaskedLM", {}),
    "data2vec_text": ("Data2VecTextModel", {}), "ibert": ("IBertModel", {}),
    "mobilebert": ("MobileBertModel", {"embedding_size": 16, "intra_bottleneck_size": 8, "num_feedforward_networks": 1}),
    "deberta": ("DebertaModel", {"relative_attention": True, "pos_att_type": ["p2c", "c2p"]}),
    "flaubert": ("FlaubertModel", {"emb_dim": 16, "n_layers": 1, "n_heads": 2}),
    "nomic_bert": ("NomicBertModel", {}), "big_bird": ("BigBirdModel", {"attention_type": "original_full"}),
}
DECODERS = {
    "qwen2_moe": ("Qwen2MoeForCausalLM", {"num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 12,
                                           "shared_expert_intermediate_size": 12, "experts_implementation": "batched_mm"}),
    "olmo": ("OlmoForCausalLM", {}), "olmo2": ("Olmo2ForCausalLM", {}), "cohere": ("CohereForCausalLM", {}),
    "stablelm": ("StableLmForCausalLM", {}), "starcoder2": ("Starcoder2ForCausalLM", {}), "phi": ("PhiForCausalLM", {}),
    "granite": ("GraniteForCausalLM", {}), "glm": ("GlmForCausalLM", {"head_dim": 8}), "nemotron": ("NemotronForCausalLM", {}),
    "smollm3": ("SmolLM3ForCausalLM", {}), "persimmon": ("PersimmonForCausalLM", {}), "helium": ("HeliumForCausalLM", {"head_dim": 8}),
    "gemma3": ("Gemma3ForCausalLM", {"head_dim": 8, "sliding_window": 4}), "biogpt": ("BioGptForCausalLM", {}),
    "mistral_window": ("MistralForCausalLM", {"sliding_window": 4}),
    "gpt_neo": ("GPTNeoForCausalLM", {"num_layers": 2, "num_heads": 2, "attention_types": [[["global", "local"], 1]]}),
    "gptj": ("GPTJForCausalLM", {"n_embd": 16, "n_layer": 1, "n_head": 2, "n_inner": 24, "n_positions": 40, "rotary_dim": 4}),
    "gpt_bigcode": ("GPTBigCodeForCausalLM", {"n_embd": 16, "n_layer": 1, "n_head": 2, "n_positions": 40}),
    "xglm": ("XGLMForCausalLM", {"d_model": 16, "num_layers": 1, "attention_heads": 2, "ffn_dim": 24}),
    "olmoe": ("OlmoeForCausalLM", {"num_experts": 4, "num_experts_per_tok": 2, "experts_implementation": "batched_mm"}),
    "gpt_oss": ("GptOssForCausalLM", {"head_dim": 8, "num_local_experts": 4, "num_experts_per_tok": 2, "sliding_window": 4,
                                       "experts_implementation": "batched_mm"}),
    "deepseek_v3": ("DeepseekV3ForCausalLM", {"n_routed_experts": 4, "num_experts_per_tok": 2, "n_group": 2, "topk_group": 1,
                                               "kv_lora_rank": 8, "q_lora_rank": 8, "qk_rope_head_dim": 4, "v_head_dim": 8,
                                               "qk_nope_head_dim": 4, "moe_intermediate_size": 12, "first_k_dense_replace": 1,
                                               "num_key_value_heads": 2, "experts_implementation": "batched_mm"}),
    "rwkv": ("RwkvForCausalLM", {"attention_hidden_size": 16, "context_length": 40}),
    "mpt": ("MptForCausalLM", {"d_model": 16, "n_heads": 2, "n_layers": 1, "max_seq_len": 40}),
    "ctrl": ("CTRLLMHeadModel", {"n_embd": 16, "n_layer": 1, "n_head": 2, "dff": 24, "n_positions": 40}),
    "mamba2": ("Mamba2ForCausalLM", {"num_heads": 4, "head_dim": 8, "state_size": 4, "n_groups": 1, "expand": 2, "chunk_size": 4}),
}
IMAGES = {
    "beit": ("BeitModel", hf.WIDTH | {"image_size": 32, "patch_size": 8, "use_relative_position_bias": True}),
    "swinv2": ("Swinv2Model", {"image_size": 32, "patch_size": 4, "embed_dim": 8, "depths": [2, 1], "num_heads": [1, 2], "window_size": 4}),
    "hf_convnext": ("ConvNextModel", {"depths": [1, 1], "hidden_sizes": [8, 12], "num_stages": 2}),
    "hf_resnet": ("ResNetForImageClassification", {"embedding_size": 8, "hidden_sizes": [8, 12], "depths": [1, 1], "layer_type": "basic"}),
    "regnet": ("RegNetModel", {"embedding_size": 8, "hidden_sizes": [8, 16], "depths": [1, 1], "groups_width": 4}),
    "hf_mobilenet_v2": ("MobileNetV2Model", {"depth_multiplier": 0.1}),
    "mobilenet_v1": ("MobileNetV1Model", {"depth_multiplier": 0.1, "min_depth": 4}),
    "poolformer": ("PoolFormerModel", {"hidden_sizes": [8, 12], "depths": [1, 1], "num_encoder_blocks": 2, "patch_sizes": [7, 3],
                                       "strides": [4, 2], "padding": [2, 1]}),
    "pvt": ("PvtModel", {"image_size": 32, "hidden_sizes": [8, 16], "depths": [1, 1], "num_encoder_blocks": 2, "patch_sizes": [4, 2],
                         "strides": [4, 2], "num_attention_heads": [1, 2], "sequence_reduction_ratios": [2, 1], "mlp_ratios": [2, 2]}),
    "vit_classifier": ("ViTForImageClassification", hf.WIDTH | {"image_size": 32, "patch_size": 8}),
    "yolos": ("YolosForObjectDetection", hf.WIDTH | {"image_size": [32, 32], "patch_size": 8, "num_detection_tokens": 5}),
    "dpt": ("DPTForDepthEstimation", hf.WIDTH | {"image_size": 32, "patch_size": 8, "num_hidden_layers": 4, "backbone_out_indices": [0, 1, 2, 3],
                                                  "neck_hidden_sizes": [8, 8, 8, 8], "fusion_hidden_size": 8}),
    "focalnet": ("FocalNetModel", {"image_size": 32, "embed_dim": 8, "depths": [1, 1], "hidden_sizes": [8, 16], "focal_levels": [1, 1],
                                   "focal_windows": [3, 3]}),
    "bit": ("BitModel", {"embedding_size": 32, "hidden_sizes": [32, 64], "depths": [1, 1], "num_groups": 4}),
    "glpn": ("GLPNModel", {"hidden_sizes": [8, 16], "depths": [1, 1], "num_encoder_blocks": 2, "patch_sizes": [7, 3], "strides": [4, 2],
                           "num_attention_heads": [1, 2], "sr_ratios": [4, 2], "mlp_ratios": [2, 2]}),
    "hiera": ("HieraModel", {"image_size": [32, 32], "patch_stride": [4, 4], "embed_dim": 8, "depths": [1, 1], "num_heads": [1, 2],
                             "query_stride": [2, 2], "masked_unit_size": [4, 4], "num_query_pool": 1}),
    "siglip_vision": ("SiglipVisionModel", hf.WIDTH | {"image_size": 32, "patch_size": 8}),
    "vit_msn": ("ViTMSNModel", hf.WIDTH | {"image_size": 32, "patch_size": 8}),
    "data2vec_vision": ("Data2VecVisionModel", hf.WIDTH | {"image_size": 32, "patch_size": 8}),
    "swiftformer": ("SwiftFormerModel", {"image_size": 32, "depths": [1, 1], "embed_dims": [8, 12], "down_patch_size": 3}),
    "dinov3_vit": ("DINOv3ViTModel", hf.WIDTH | {"image_size": 32, "patch_size": 8}),
    "vitdet": ("VitDetModel", hf.WIDTH | {"image_size": 32, "patch_size": 8, "window_size": 2, "window_block_indices": [0]}),
}
CONV = {"conv_dim": [16, 16], "conv_kernel": [10, 3], "conv_stride": [5, 2], "num_feat_extract_layers": 2,
        "num_conv_pos_embeddings": 8, "num_conv_pos_embedding_groups": 4, "vocab_size": 30}
SOUNDS = {
    "wavlm": ("WavLMModel", hf.WIDTH | CONV | {"num_buckets": 8}), "unispeech": ("UniSpeechModel", hf.WIDTH | CONV),
    "data2vec_audio": ("Data2VecAudioModel", hf.WIDTH | CONV), "sew": ("SEWModel", hf.WIDTH | CONV | {"squeeze_factor": 2}),
    "wav2vec2_conformer": ("Wav2Vec2ConformerModel", hf.WIDTH | CONV | {"conv_depthwise_kernel_size": 5}),
    "wav2vec2_ctc": ("Wav2Vec2ForCTC", hf.WIDTH | CONV | {"do_stable_layer_norm": True, "feat_extract_norm": "layer"}),
    "unispeech_sat": ("UniSpeechSatModel", hf.WIDTH | CONV),
}
SEQUENCES = {
    "pegasus": ("PegasusModel", hf.BART), "marian": ("MarianModel", hf.BART | {"pad_token_id": 0, "decoder_start_token_id": 1}),
    "mbart": ("MBartModel", hf.BART), "m2m_100": ("M2M100Model", hf.BART), "blenderbot": ("BlenderbotModel", hf.BART),
    "t5_generation": ("T5ForConditionalGeneration", hf.T5), "mt5": ("MT5Model", hf.T5), "umt5": ("UMT5Model", hf.T5),
    "bart_generation": ("BartForConditionalGeneration", hf.BART),
    "prophetnet": ("ProphetNetModel", {"vocab_size": 60, "hidden_size": 16, "num_encoder_layers": 1, "num_decoder_layers": 1,
                                       "num_encoder_attention_heads": 2, "num_decoder_attention_heads": 2, "encoder_ffn_dim": 24,
                                       "decoder_ffn_dim": 24, "max_position_embeddings": 40, "use_cache": False}),
}
OTHERS = [
    Model("xlnet", hf.build("XLNetModel", vocab_size=60, d_model=16, n_layer=1, n_head=2, d_inner=24), TOKENS, tags=EXTRA),
    Model("funnel", hf.build("FunnelModel", vocab_size=60, d_model=16, n_head=2, d_head=8, d_inner=24, block_sizes=[1, 1]), TOKENS,
          tags=EXTRA),
    Model("clip", hf.build("CLIPModel", text_config=hf.ENCODER | {"eos_token_id": 59}, vision_config=hf.IMAGE, projection_dim=8),
          {"input_ids": "i64[2,7]<60", "pixel_values": "f32[2,3,16,16]"}, tags=EXTRA),
    Model("clip_text", hf.build("CLIPTextModel", eos_token_id=59, **hf.ENCODER), TOKENS, tags=EXTRA),
    Model("whisper", hf.build("WhisperModel", use_cache=False, **hf.WHISPER), {"input_features": "f32[1,8,24]", "decoder_input_ids": "i64[1,4]<60"},
          tags=EXTRA),
    Model("patchtst", hf.build("PatchTSTModel", num_input_channels=3, context_length=16, patch_length=4, patch_stride=4, d_model=16,
                               num_attention_heads=2, num_hidden_layers=1, ffn_dim=24), {"past_values": "f32[2,16,3]"}, tags=EXTRA),
    Model("patchtsmixer", hf.build("PatchTSMixerModel", num_input_channels=3, context_length=16, patch_length=4, patch_stride=4, d_model=8,
                                   num_layers=1), {"past_values": "f32[2,16,3]"}, tags=EXTRA),
    Model("timesformer", hf.build("TimesformerModel", image_size=16, patch_size=8, num_frames=2, **hf.WIDTH),
          {"pixel_values": "f32[1,2,3,16,16]"}, tags=EXTRA),
    Model("videomae", hf.build("VideoMAEModel", image_size=16, patch_size=8, num_frames=2, **hf.WIDTH),
          {"pixel_values": "f32[1,2,3,16,16]"}, tags=EXTRA),
    Model("speech_to_text", hf.build("Speech2TextModel", input_feat_per_channel=8, conv_channels=16, **hf.BART),
          {"input_features": "f32[1,20,8]", "decoder_input_ids": "i64[1,4]<60"}, tags=EXTRA),
    Model("decision_transformer", hf.build("DecisionTransformerModel", state_dim=5, act_dim=3, hidden_size=16, n_layer=1, n_head=2,
                                           max_ep_len=20),
          {"states": "f32[1,4,5]", "actions": "f32[1,4,3]", "rewards": "f32[1,4,1]", "returns_to_go": "f32[1,4,1]",
           "timesteps": "i64[1,4]<20", "attention_mask": "i64[1,4]<2"}, tags=EXTRA),
]


def family(table: dict, inputs, common: dict) -> list[Model]:
    return [Model(name, hf.build(kind, **common | options), inputs, tags=EXTRA) for name, (kind, options) in table.items()]


MORE = (family(ENCODERS, TOKENS, hf.ENCODER) + family(DECODERS, TOKENS, hf.DECODER) + family(IMAGES, PIXELS, {})
        + family(SOUNDS, WAVE, {}) + family(SEQUENCES, PAIRS, {}) + OTHERS)
