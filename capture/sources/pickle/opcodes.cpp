#include "capture/sources/pickle/opcodes.h"

#include <array>

namespace accelscope::capture::sources::pickle {
namespace {

constexpr OpcodeRow kOpcodeRows[] = {
    {0x80, "PROTO", PickleOp::skip, 1},
    {0x95, "FRAME", PickleOp::skip, 8},
    {'.', "STOP", PickleOp::stop},
    {'(', "MARK", PickleOp::mark},
    {'0', "POP", PickleOp::pop},
    {'1', "POP_MARK", PickleOp::pop_mark},
    {'2', "DUP", PickleOp::duplicate},
    {'N', "NONE", PickleOp::none},
    {0x88, "NEWTRUE", PickleOp::new_true},
    {0x89, "NEWFALSE", PickleOp::new_false},
    {'K', "BININT1", PickleOp::integer, 1},
    {'M', "BININT2", PickleOp::integer, 2},
    {'J', "BININT", PickleOp::integer, 4},
    {0x8a, "LONG1", PickleOp::long_integer, 1},
    {0x8b, "LONG4", PickleOp::long_integer, 4},
    {'G', "BINFLOAT", PickleOp::real},
    {0x8c, "SHORT_BINUNICODE", PickleOp::text, 1},
    {'X', "BINUNICODE", PickleOp::text, 4},
    {0x8d, "BINUNICODE8", PickleOp::text, 8},
    {'C', "SHORT_BINBYTES", PickleOp::text, 1},
    {'B', "BINBYTES", PickleOp::text, 4},
    {0x8e, "BINBYTES8", PickleOp::text, 8},
    {0x96, "BYTEARRAY8", PickleOp::text, 8},
    {'U', "SHORT_BINSTRING", PickleOp::text, 1},
    {'T', "BINSTRING", PickleOp::text, 4},
    {']', "EMPTY_LIST", PickleOp::empty_list},
    {0x8f, "EMPTY_SET", PickleOp::empty_list},
    {'a', "APPEND", PickleOp::append},
    {'e', "APPENDS", PickleOp::append_all},
    {0x90, "ADDITEMS", PickleOp::append_all},
    {'}', "EMPTY_DICT", PickleOp::empty_dict},
    {'s', "SETITEM", PickleOp::set_item},
    {'u', "SETITEMS", PickleOp::set_items},
    {')', "EMPTY_TUPLE", PickleOp::tuple_of, 0},
    {0x85, "TUPLE1", PickleOp::tuple_of, 1},
    {0x86, "TUPLE2", PickleOp::tuple_of, 2},
    {0x87, "TUPLE3", PickleOp::tuple_of, 3},
    {'t', "TUPLE", PickleOp::tuple},
    {0x91, "FROZENSET", PickleOp::tuple},
    {'h', "BINGET", PickleOp::get, 1},
    {'j', "LONG_BINGET", PickleOp::get, 4},
    {'q', "BINPUT", PickleOp::put, 1},
    {'r', "LONG_BINPUT", PickleOp::put, 4},
    {0x94, "MEMOIZE", PickleOp::memoize},
    {'c', "GLOBAL", PickleOp::refused},
    {0x93, "STACK_GLOBAL", PickleOp::refused},
    {'i', "INST", PickleOp::refused},
    {'o', "OBJ", PickleOp::refused},
    {'R', "REDUCE", PickleOp::refused},
    {'b', "BUILD", PickleOp::refused},
    {0x81, "NEWOBJ", PickleOp::refused},
    {0x92, "NEWOBJ_EX", PickleOp::refused},
    {0x82, "EXT1", PickleOp::refused},
    {0x83, "EXT2", PickleOp::refused},
    {0x84, "EXT4", PickleOp::refused},
    {'P', "PERSID", PickleOp::refused},
    {'Q', "BINPERSID", PickleOp::refused},
    {0x97, "NEXT_BUFFER", PickleOp::refused},
    {0x98, "READONLY_BUFFER", PickleOp::refused},
    {'I', "INT", PickleOp::text_form},
    {'L', "LONG", PickleOp::text_form},
    {'F', "FLOAT", PickleOp::text_form},
    {'S', "STRING", PickleOp::text_form},
    {'V', "UNICODE", PickleOp::text_form},
    {'d', "DICT", PickleOp::text_form},
    {'l', "LIST", PickleOp::text_form},
    {'g', "GET", PickleOp::text_form},
    {'p', "PUT", PickleOp::text_form},
};

constexpr std::array<OpcodeRow, 256> make_opcode_table() {
  std::array<OpcodeRow, 256> rows = {};
  for (const OpcodeRow& row : kOpcodeRows) rows[row.code] = row;
  return rows;
}

constexpr std::array<OpcodeRow, 256> kOpcodeTable = make_opcode_table();

}  // namespace

const OpcodeRow& opcode_row(std::uint8_t code) noexcept { return kOpcodeTable[code]; }

}  // namespace accelscope::capture::sources::pickle
