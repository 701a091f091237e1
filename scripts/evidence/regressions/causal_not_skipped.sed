s/const int keys = visible_keys_of_tile(.*;/const int keys = p.kv_len;/
