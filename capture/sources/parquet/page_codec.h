// Unpacks the pages of Parquet files: SNAPPY, GZIP, ZSTD, LZ4_RAW and LZ4 in Hadoop's frames.
#pragma once

#include <span>
#include <string_view>

#include "core/base/result.h"
#include "core/parquet/format.h"

namespace accelscope::capture::sources::parquet {

[[nodiscard]] bool can_unpack(accelscope::parquet::Codec codec) noexcept;

// Fails unless `packed` holds exactly as many bytes as `out` has. Uncompressed ones are copied.
[[nodiscard]] Result<void> unpack(accelscope::parquet::Codec codec, std::string_view packed, std::span<char> out);

}  // namespace accelscope::capture::sources::parquet
