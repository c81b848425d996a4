# Generated from odt/opcodes.py by odt/host/generate.py; after a change there: make generate.
"""Of each instruction, by the length of its name: name, number, accesses of its operands, how many immediates,
and, where an output may lie in the memory of an input, which operands these are."""

ROWS = (
    "",
    "",
    "",
    " few 146 : 2; put 153 =::: 4;",
    " tick 2 =++ 2; each 147 :: 4; pick 152 =::: 4;",
    " clear 1 = 1; ratio 5 =:: 1; place 61 +: 4; slice 62 =: 4;",
    " add_i8 27 =+:::: 5 0 2; mse_i8 29 ==++:::: 3 0 5; mae_i8 115 ==+::: 3 0 4;",
    " rescale 4 =::: 2; product 7 =:: 1; bias_i8 8 =::: 1; relu_i8 21 =: 2 0 1; add_f32 54 =:: 2 0 1;"
    " mse_f32 56 =+:: 2 0 3; mae_f32 116 =+:: 2 0 3; norm_i8 128 =+:::: 7; rank_i8 150 ===:: 5;"
    " open_i8 155 =: 4; adam_i8 161 +++++++:::: 10; room_i8 169 +++: 4; walk_i8 173 +++:: 4;",
    " range_i8 9 +: 3; dense_i8 10 =+:::: 6; adam_i16 31 +=+++:: 8; adam_i32 33 +=++:: 8;"
    " apply_i8 35 ++++:::: 6; relu_f32 48 =: 1 0 1; adam_f32 58 +++: 6; tanh_f32 83 =: 1 0 1;"
    " decay_i8 90 ++: 3; huber_i8 117 ==++:::: 4; track_i8 126 ++::: 4; norm_f32 136 =:::: 5 0 1;"
    " clip_i32 141 =: 1; clip_f32 143 =: 1; step_key 145 +: 1; rank_f32 151 ===:: 5; open_f32 156 =: 3;"
    " slope_i8 167 =::: 4; walk_i32 174 +:: 2; walk_f32 175 +:: 2;",
    " gather_i8 3 =+::: 3; conv2d_i8 15 =+:::: 16; plain_i32 34 =: 2; apply_i32 36 +::: 1;"
    " dense_f32 38 =::: 4; apply_f32 59 +:: 1; concat_i8 60 ++:: 7; relu6_f32 73 =: 1 0 1;"
    " decay_f32 89 +: 2; decay_i32 91 +: 3; huber_f32 118 =+:: 3 0 3; affine_i8 127 ==::: 1;"
    " track_f32 135 ++:: 3; scale_f32 144 +: 1; settle_i8 154 +++: 2; masked_i8 157 =:: 2 0 1;"
    " fisher_i8 159 +:::: 5; passed_i8 165 +++ 1; slope_f32 168 =:: 3;",
    " rescale_dx 6 ==::: 2; bias_dw_i8 13 =: 2; relu_dx_i8 22 =:: 2 0 1; gather_f32 37 =:: 2;"
    " conv2d_f32 42 =::: 14; upsample2d 69 =: 6; sigmoid_i8 79 =:: 3 0 1; softmax_i8 85 =:: 3 0 1;"
    " dropout_i8 109 ==:::+ 6 0 2; norm_dw_i8 129 =::: 6; norm_dx_i8 130 =+:::::::: 9;"
    " masked_f32 158 =:: 2 0 1; fisher_f32 160 +:: 3; range_x_i8 162 ++: 1; passed_f32 166 +++ 1;"
    " perturb_i8 170 +:: 5;",
    " dense_dx_i8 11 =+::: 3; dense_dw_i8 12 =:: 6; unpool2d_i8 24 =+:: 15; bias_dw_f32 41 =: 2;"
    " relu_dx_f32 49 =:: 1 0 1; multiply_i8 63 =+::: 5; relu6_dx_i8 72 =:: 1 0 1;"
    " sigmoid_f32 81 =: 1 0 1; tanh_dx_f32 84 =:: 1 0 1; softmax_f32 87 =: 2 0 1;"
    " dropout_f32 111 =::+ 4 0 1; norm_dw_f32 137 =::: 4; norm_dx_f32 138 =::::: 5 0 1;"
    " squares_i32 140 +:: 2; squares_f32 142 +: 1; relative_i8 148 =+::: 1; perturb_i32 171 +: 3;"
    " perturb_f32 172 +: 3; sampling_i8 176 =+::::+ 5;",
    " conv2d_dx_i8 16 =+::: 13; conv2d_dw_i8 17 =:: 16; maxpool2d_i8 23 =: 13; globalavg_i8 25 =+:: 6;"
    " momentum_i16 30 +=++:: 6; momentum_i32 32 +=+: 4; dense_dx_f32 39 =:: 3; dense_dw_f32 40 =:: 5;"
    " unpool2d_f32 51 =:: 15; momentum_f32 57 ++ 2; multiply_f32 64 =:: 1 0 1; avgpool2d_i8 65 =: 14;"
    " relu6_dx_f32 74 =:: 1 0 1; nesterov_f32 92 ++ 2; nesterov_i16 93 +=++:: 6; nesterov_i32 94 +=+: 4;"
    " affine_dx_i8 131 =+:::::: 3; relative_f32 149 =+:: 1; sampling_f32 179 =::+ 3;",
    " conv2d_dx_f32 43 =:: 13; conv2d_dw_f32 44 =:: 15; maxpool2d_f32 50 =: 13; globalavg_f32 52 =: 3;"
    " avgpool2d_f32 67 =: 14; leaky_relu_i8 75 =: 3 0 1; sigmoid_dx_i8 80 =+::: 1;"
    " softmax_dx_i8 86 =+::: 2; dropout_dx_i8 110 =:: 4 0 1; norm_stats_i8 123 =:: 7;"
    " affine_dx_f32 139 =::: 2 0 1; divergence_i8 177 =+:::: 10; read_stats_i8 182 +:::: 4;"
    " track_read_i8 183 ++::: 5;",
    " depthwise2d_i8 18 =+:::: 16; leaky_relu_f32 77 =: 2 0 1; sigmoid_dx_f32 82 =:: 1 0 1;"
    " softmax_dx_f32 88 =:: 2 0 1; accumulate_i32 95 +: 1; accumulate_f32 96 +: 1;"
    " dropout_dx_f32 112 =:: 4 0 1; binary_xent_i8 113 ==+::: 3 0 4; batch_stats_i8 124 ++::: 6;"
    " norm_stats_f32 132 =: 5; gather_norm_i8 163 =+::::: 4; sampling_dx_i8 178 =+::::::: 7;"
    " divergence_f32 180 =+:: 6;",
    " globalavg_dx_i8 26 =: 3; softmax_xent_i8 28 ==+::: 3 0 4; depthwise2d_f32 45 =::: 14;"
    " avgpool2d_dx_i8 66 =+:: 15; group_conv2d_i8 97 =+:::: 17; transposed2d_i8 103 =+:::: 16;"
    " binary_xent_f32 114 =+:: 2 0 3; batch_stats_f32 133 ++:: 4; gather_norm_f32 164 =:::: 3;"
    " sampling_dx_f32 181 =:::: 4;",
    " channel_scale_i8 14 =::: 3 0 1; globalavg_dx_f32 53 =: 3; softmax_xent_f32 55 =+:: 2 0 3;"
    " avgpool2d_dx_f32 68 =: 14; upsample2d_dx_i8 70 =+:: 6; leaky_relu_dx_i8 76 =::: 4 0 1;"
    " group_conv2d_f32 100 =::: 15; transposed2d_f32 106 =::: 14; weighted_xent_i8 119 ==+:::: 4 0 4;"
    " running_stats_i8 125 =::: 3;",
    " depthwise2d_dx_i8 19 =+::: 13; depthwise2d_dw_i8 20 =:: 16; upsample2d_dx_f32 71 =: 6;"
    " leaky_relu_dx_f32 78 =:: 2 0 1; weighted_xent_f32 120 =+::: 3 0 3; running_stats_f32 134 =:: 2;",
    " depthwise2d_dx_f32 46 =:: 13; depthwise2d_dw_f32 47 =:: 15; group_conv2d_dx_i8 98 =+::: 14;"
    " group_conv2d_dw_i8 99 =:: 17; transposed2d_dx_i8 104 =+::: 13; transposed2d_dw_i8 105 =:: 16;",
    " group_conv2d_dx_f32 101 =:: 14; group_conv2d_dw_f32 102 =:: 16; transposed2d_dx_f32 107 =:: 13;"
    " transposed2d_dw_f32 108 =:: 15; maxpool2d_choice_i8 121 ==: 15;",
    " maxpool2d_choice_f32 122 ==: 15;",
)
