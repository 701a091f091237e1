/const auto load_k = /,/cp_async_commit/s/if (j < Tc)/for (int again = 0; again < 2 \&\& j < Tc; ++again)/
