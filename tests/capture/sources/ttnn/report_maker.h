// A small memory report of TTNN, by the tables that its tools make.
#pragma once

#include <string>

namespace accelscope::capture {

// Three operations of 1, 2 and 3 ms. In L1 of chip 0 a tensor lies from the first to the second one, another one in its
// place in the third; in DRAM one lies to the end. The second operation failed.
inline std::string ttnn_report_sql() {
  return R"sql(
    CREATE TABLE devices (device_id int, num_y_cores int, num_x_cores int, worker_l1_size int, l1_num_banks int,
      l1_bank_size int);
    INSERT INTO devices VALUES(0, 10, 12, 1499136, 64, 1395424);
    CREATE TABLE operations (operation_id int UNIQUE, name text, duration float);
    INSERT INTO operations VALUES(1, 'ttnn.to_device', 0.001), (2, 'ttnn.matmul', 0.002), (3, 'ttnn.add', 0.003);
    CREATE TABLE operation_arguments (operation_id int, name text, value text);
    INSERT INTO operation_arguments VALUES(2, '0', 'Tensor'), (2, 'core_grid', '8x8');
    CREATE TABLE stack_traces (operation_id int, stack_trace text);
    INSERT INTO stack_traces VALUES(2, 'model.py:12');
    CREATE TABLE tensors (tensor_id int UNIQUE, shape text, dtype text, layout text, memory_config text, device_id int,
      address int, buffer_type int);
    INSERT INTO tensors VALUES(5, 'Shape([1, 32])', 'BFLOAT16', 'TILE', 'L1', 0, 4096, 1),
                              (6, 'Shape([32, 32])', 'BFLOAT16', 'TILE', 'L1', 0, 4096, 1);
    CREATE TABLE device_tensors (tensor_id int, device_id int, address int);
    CREATE TABLE input_tensors (operation_id int, input_index int, tensor_id int);
    INSERT INTO input_tensors VALUES(2, 0, 5);
    CREATE TABLE output_tensors (operation_id int, output_index int, tensor_id int);
    INSERT INTO output_tensors VALUES(1, 0, 5), (3, 0, 6);
    CREATE TABLE buffers (operation_id int, device_id int, address int, max_size_per_bank int, buffer_type int,
      buffer_layout int);
    INSERT INTO buffers VALUES(1, 0, 4096, 2048, 1, 0), (1, 0, 64, 512, 0, 0),
                              (2, 0, 4096, 2048, 1, 0), (2, 0, 64, 512, 0, 0),
                              (3, 0, 4096, 1024, 1, 2), (3, 0, 64, 512, 0, 0);
    CREATE TABLE errors (operation_id int, operation_name text, error_type text, error_message text);
    INSERT INTO errors VALUES(2, 'ttnn.matmul', 'TT_FATAL', 'out of L1');
    CREATE TABLE edges (operation_id int, source_unique_id int, sink_unique_id int);
    INSERT INTO edges VALUES(1, 1, 2), (2, 2, 3);)sql";
}

}  // namespace accelscope::capture
