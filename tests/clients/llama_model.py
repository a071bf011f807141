"""llama_model.py GGUF FILE SEED: writes a small model of the Llama architecture with random weights and a vocabulary of bytes.

GGUF is the folder of the Python package (Debian's python3-gguf); numpy is the system's."""

import importlib.util
import sys

import numpy

EMBEDDING, HEADS, KV_HEADS, FEED_FORWARD, LAYERS, CONTEXT = 256, 4, 2, 512, 4, 512
WIDTH = EMBEDDING // HEADS
BYTES, BEGIN, END = 256, 1, 2

random = numpy.random.default_rng(int(sys.argv[3]))


def package_load(folder):
    """The package alone: the folder beside it has modules for another Python."""
    spec = importlib.util.spec_from_file_location("gguf", folder + "/__init__.py", submodule_search_locations=[folder])
    sys.modules["gguf"] = package = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(package)
    return package


def matrix_add(out, name, rows, columns, scale=None):
    values = random.standard_normal((rows, columns)) * (scale or columns**-0.5)
    out.add_tensor(name + ".weight", values.astype(numpy.float16))


def norm_add(out, name):
    out.add_tensor(name + ".weight", (1 + 0.1 * random.standard_normal(EMBEDDING)).astype(numpy.float32))


def vocabulary_add(out):
    tokens = ["<unk>", "<s>", "</s>"] + ["<0x%02X>" % i for i in range(BYTES)]
    out.add_tokenizer_model("llama")
    out.add_token_list(tokens)
    out.add_token_scores([-float(i) for i in range(len(tokens))])
    out.add_token_types([2, 3, 3] + [6] * BYTES)  # unknown, control, byte
    out.add_bos_token_id(BEGIN)
    out.add_eos_token_id(END)
    out.add_vocab_size(len(tokens))
    return len(tokens)


def layer_add(out, layer):
    name = "blk.%d." % layer
    norm_add(out, name + "attn_norm")
    norm_add(out, name + "ffn_norm")
    matrix_add(out, name + "attn_q", EMBEDDING, EMBEDDING)
    matrix_add(out, name + "attn_k", WIDTH * KV_HEADS, EMBEDDING)
    matrix_add(out, name + "attn_v", WIDTH * KV_HEADS, EMBEDDING)
    matrix_add(out, name + "attn_output", EMBEDDING, EMBEDDING)
    matrix_add(out, name + "ffn_gate", FEED_FORWARD, EMBEDDING)
    matrix_add(out, name + "ffn_up", FEED_FORWARD, EMBEDDING)
    matrix_add(out, name + "ffn_down", EMBEDDING, FEED_FORWARD)


out = package_load(sys.argv[1]).GGUFWriter(sys.argv[2], "llama")
out.add_context_length(CONTEXT)
out.add_embedding_length(EMBEDDING)
out.add_block_count(LAYERS)
out.add_feed_forward_length(FEED_FORWARD)
out.add_head_count(HEADS)
out.add_head_count_kv(KV_HEADS)
out.add_layer_norm_rms_eps(1e-5)
out.add_rope_dimension_count(WIDTH)
out.add_file_type(1)  # mostly f16
tokens = vocabulary_add(out)
matrix_add(out, "token_embd", tokens, EMBEDDING, 1.0)
for layer in range(LAYERS):
    layer_add(out, layer)
norm_add(out, "output_norm")
matrix_add(out, "output", tokens, EMBEDDING, 0.3)
out.write_header_to_file()
out.write_kv_data_to_file()
out.write_tensors_to_file()
out.close()
