// What a user may write for a place, and what must never reach ssh's command line.
#include <doctest/doctest.h>

#include "capture/reach/place.h"

using namespace accelscope::capture;

TEST_CASE("places are read as written and written as read") {
  const reach::Place box{.kind = reach::Place::Kind::ssh, .host = "box"};
  CHECK(reach::parse_place("local").value() == reach::Place{});
  CHECK(reach::parse_place("ssh://box").value() == box);
  CHECK(reach::parse_place("ssh://box/").value() == box);
  const reach::Place full = reach::parse_place("ssh://ada@trn-1.example.com:2222").value();
  CHECK(full ==
        reach::Place{.kind = reach::Place::Kind::ssh, .user = "ada", .host = "trn-1.example.com", .port = 2222});
  const reach::Place six = reach::parse_place("ssh://[fe80::1%eth0]:22").value();
  CHECK(six == reach::Place{.kind = reach::Place::Kind::ssh, .host = "fe80::1%eth0", .port = 22});
  CHECK(reach::parse_place("ssh://ada@corp.com@box").value().user == "ada@corp.com");
  for (const char* text : {"127.0.0.1:7420", "tls://box:7420", "[::1]:7420"}) {
    CHECK(reach::parse_place(text).value() == reach::Place{.kind = reach::Place::Kind::address, .address = text});
  }
  for (const char* text : {"local", "tls://box:7420", "ssh://box", "ssh://ada@box:22", "ssh://[::1]", "ssh://[::1]:9",
                           "ssh://a+b_c.d@10.0.0.1"}) {
    CHECK(reach::parse_place(text).value().text() == text);
  }
}

TEST_CASE("a host or user that ssh or a shell would read as more than a name is refused with the right form") {
  for (const char* text : {"ssh://-oProxyCommand=x",
                           "ssh://-oProxyCommand=x@box",
                           "ssh://a@-box",
                           "ssh://box;reboot",
                           "ssh://a$(id)@box",
                           "ssh://a'b@box",
                           "ssh://a b@box",
                           "ssh://box`id`",
                           "ssh://bo\nx",
                           "ssh://box/etc",
                           "ssh://a|b@box",
                           "ssh://",
                           "ssh:///",
                           "ssh://@box",
                           "ssh://box:",
                           "ssh://box:0",
                           "ssh://box:65536",
                           "ssh://box:22x",
                           "ssh://box:-1",
                           "ssh://::1",
                           "ssh://[::1",
                           "ssh://[box]",
                           "ssh://[::1]22",
                           "ssh://[::1]:"}) {
    const auto place = reach::parse_place(text);
    REQUIRE_MESSAGE(!place.ok(), text);
    CHECK(place.message().find(text) == 0);
    CHECK(place.message().find("write ssh://") != std::string::npos);
  }
  CHECK_FALSE(reach::parse_place("").ok());
  CHECK_FALSE(reach::parse_place("ssh://" + std::string(300, 'a')).ok());
}
