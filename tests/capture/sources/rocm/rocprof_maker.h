// A small database of rocprof, by the tables that its scripts make.
#pragma once

#include <string>

namespace accelscope::capture {

// A kernel, a barrier, a copy and a fill that two HIP calls started, a call of HSA, a range of ROCTX, and a table that
// is not read.
inline std::string rocprof_sql() {
  return R"sql(
    CREATE TABLE rocTX ("BeginNs" INTEGER, "EndNs" INTEGER, "pid" INTEGER, "tid" INTEGER, "Name" TEXT, "Index" INTEGER);
    INSERT INTO rocTX VALUES(900, 5000, 77, 78, '"step 1"', 0);
    CREATE TABLE HSA ("BeginNs" INTEGER, "EndNs" INTEGER, "pid" INTEGER, "tid" INTEGER, "Name" TEXT, "args" TEXT,
      "Index" INTEGER, "Data" TEXT, "__section" INTEGER, "__lane" INTEGER);
    INSERT INTO HSA VALUES(950, 960, 77, 78, 'hsa_init', '()', 1, '', 1, 78);
    CREATE TABLE HIP ("BeginNs" INTEGER, "EndNs" INTEGER, "pid" INTEGER, "tid" INTEGER, "Name" TEXT, "args" TEXT,
      "Index" INTEGER, "Data" TEXT, "__section" INTEGER, "__lane" INTEGER);
    INSERT INTO HIP VALUES(1000, 1100, 77, 78, 'hipLaunchKernel', '( kernel(gemm) )', 11, '', 2, 78),
                          (1200, 1300, 77, 78, 'hipMemcpyAsync', '( sizeBytes(64) )', 12, '', 2, 78);
    CREATE TABLE OPS ("BeginNs" INTEGER, "EndNs" INTEGER, "dev-id" INTEGER, "queue-id" INTEGER, "Name" TEXT,
      "pid" INTEGER, "tid" INTEGER, "roctx-range" TEXT, "stream-id" INTEGER, "Index" INTEGER, "Data" TEXT,
      "__section" INTEGER, "__lane" INTEGER);
    INSERT INTO OPS VALUES(2000, 2500, 1, 0, '"gemm(float*)"', 77, 78, 'step 1', 3, 11, '', 6, 3),
                          (2600, 2610, 1, 0, '"<barrier packet>"', 77, 78, '', 3, 13, '', 518, 3);
    CREATE TABLE COPY ("BeginNs" INTEGER, "EndNs" INTEGER, "dev-id" INTEGER, "queue-id" INTEGER, "Name" TEXT,
      "pid" INTEGER, "tid" INTEGER, "roctx-range" TEXT, "stream-id" INTEGER, "Index" INTEGER, "Data" TEXT,
      "__section" INTEGER, "__lane" INTEGER);
    INSERT INTO COPY VALUES(2700, 2800, 1, 0, 'CopyDeviceToHost', 77, 78, '', 3, 12, '', 1, 3),
                           (2900, 2950, 1, 0, 'FillBuffer', 77, 78, '', 3, 14, '', 1, 3);
    CREATE TABLE MM ("Index" INTEGER, "Bytes" INTEGER);
    INSERT INTO MM VALUES(0, 64);)sql";
}

}  // namespace accelscope::capture
