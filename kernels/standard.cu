// The middle of standard attention between two library matrix products: scale, causal mask and softmax in one
// pass over S. The idea is what frameworks fuse: one read of S and one write of P in place of three of each;
// the products' own write of S and read of P stay, 8 N^2 bytes a head in fp16 altogether.
#include "attention_params.h"
#include "lib/element.cuh"
#include "lib/row_softmax.cuh"
#include "lib/tensor.cuh"
#include "lib/visible_keys.cuh"

// P = softmax(scale S + mask) over whole rows padded to 16 columns; S (workspace 0) and P (workspace 1) are
// [batch, heads, q_len, score_pitch]. The padding of S is never written by the product and counts for
// nothing here.
extern "C" __global__ void __launch_bounds__(1024)
    scale_mask_softmax(const __grid_constant__ AttentionParams p) {
  const RowGroup group(p.kv_len);
  SoftmaxRow work;
  if (group.row < unsigned(p.batch) * p.heads * p.q_len) {
    const int pitch = score_pitch(p.kv_len);
    const long long first = static_cast<long long>(group.row) * pitch;
    work.s = workspace_of<const Element>(p, 0) + first;
    work.p = workspace_of<Element>(p, 1) + first;
    work.visible = visible_keys(p, int(group.row % p.q_len));
    work.read = pitch;
    work.write = pitch;
  }
  softmax_row(group, work, p.scale);
}
