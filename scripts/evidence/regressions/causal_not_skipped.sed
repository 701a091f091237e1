s/const int keys = CAUSAL ? .*;/const int keys = p.kv_len;/
