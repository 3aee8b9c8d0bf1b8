"""One layer of a transformer on one NeuronCore: a tiled MLP, then multi-head attention.

The demo of Accelscope: its simulated accelerator runs these loops and reports these lines. The MLP reads its
weights again for every block of rows; mlp(..., resident=True) shows what is gained by keeping them.
"""
import neuronxcc.nki as nki
import neuronxcc.nki.collectives as cc
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl

P = 128  # partitions of SBUF and PSUM, rows and columns of the systolic array
F = 512  # fp32 values of one PSUM bank, the widest tile that can move through the array


def transpose(dst, src, identity):
    """The array transposes by multiplying with the identity; Vector takes the result out of PSUM."""
    t = nisa.nc_transpose(src, identity)
    dst[...] = nisa.tensor_copy(t)


@nki.jit
def mlp(x, w1, w2, b2, identity, resident=False):
    """y = gelu(x @ w1) @ w2 + b2, in tiles"""
    M, K = x.shape
    K, H = w1.shape
    y = nl.ndarray((M, K), x.dtype, buffer=nl.shared_hbm)
    bias = nl.load(b2)

    for m in nl.affine_range(M // P):
        rows = nl.load(x[m])
        xT = nl.ndarray((K // P, P, P), x.dtype, buffer=nl.sbuf)
        for k in nl.affine_range(K // P):
            transpose(xT[k], rows[:, k], identity)

        acc = nl.zeros((P, K), nl.float32, buffer=nl.psum)
        for h in nl.sequential_range(H // F):
            ps = nl.zeros((P, F), nl.float32, buffer=nl.psum)
            for k in nl.affine_range(K // P):
                w = nl.load(w1[k, h], keep=resident)
                # eight tiles of K add up in one bank of PSUM; xT stays in SBUF
                ps += nisa.nc_matmul(xT[k], w)

            a = nisa.activation(nl.gelu, ps)
            for j in nl.affine_range(F // P):
                aT = nl.ndarray((P, P), x.dtype, buffer=nl.sbuf)
                transpose(aT, a[:, j], identity)
                for n in nl.affine_range(K // F):
                    w = nl.load(w2[h * F // P + j, n], keep=resident)
                    acc[:, n] += nisa.nc_matmul(aT, w)

        out = nisa.tensor_tensor(acc, bias, op=nl.add)
        nl.store(y[m], out)
        # ranks hold slices of H: their partial sums are added while the next rows are computed
        cc.all_reduce(y[m], op=nl.add)
    return y


@nki.jit
def attention(qT, kT, v, identity):
    """o = softmax(q @ k.T) @ v, one head after the other"""
    heads, D, M = qT.shape
    o = nl.ndarray((heads, M, D), v.dtype, buffer=nl.shared_hbm)
    spill = nl.ndarray((heads, M, D), v.dtype, buffer=nl.hbm)

    for head in nl.sequential_range(heads):
        queries = nl.load(qT[head])
        # where the keys and values lie is known only now: GpSimd writes the descriptors
        keys = nl.load(kT[nl.dynamic(head)])
        values = nl.load(v[nl.dynamic(head)])

        for m in nl.affine_range(M // P):
            mask = nisa.iota(m, shape=(P, F))
            scores = nisa.nc_matmul(queries[:, m], keys)
            top = nisa.tensor_reduce(nl.max, scores, axis=1)
            p, total = nisa.activation(nl.exp, scores + mask, bias=-top, reduce=nl.add)
            scale = nisa.reciprocal(total)

            acc = nl.zeros((P, D), nl.float32, buffer=nl.psum)
            for j in nl.affine_range(F // P):
                pT = nl.ndarray((P, P), v.dtype, buffer=nl.sbuf)
                transpose(pT, p[:, j], identity)
                acc += nisa.nc_matmul(pT, values[j])

            part = nisa.tensor_tensor(acc, scale, op=nl.multiply)
            nl.store(spill[head, m], part)

    for m in nl.affine_range(M // P):
        whole = nl.load(spill[:, m])
        nl.store(o[m], whole)
    cc.all_reduce(o, op=nl.add)
    return o
