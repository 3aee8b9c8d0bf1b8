// What a session tells of commands and scripts: never what was meant for nobody else.
#include "capture/system/shown_command.h"

#include <doctest/doctest.h>

using namespace accelscope::capture::system;

namespace {

const std::string kSecret = "hunter2SECRET";

bool hides(const std::string& text) { return text.find(kSecret) == std::string::npos && text.find("***") != text.npos; }

}  // namespace

TEST_CASE("a command that is shown holds no password, token, cookie or key of its arguments") {
  const std::vector<std::vector<std::string>> commands = {
      {"--password", kSecret},
      {"--db-pass=" + kSecret},
      {"--db-pass", kSecret},
      {"-H", "Authorization: Bearer " + kSecret},
      {"-H", "authorization: Basic " + kSecret},
      {"-H", "X-Api-Key: " + kSecret},
      {"-H", "Cookie: session=1; id=" + kSecret},
      {"--cookie", kSecret},
      {"https://user:" + kSecret + "@host/x"},
      {"https://host/x?a=1&token=" + kSecret + "&b=2"},
      {"https://x.blob/?sig=" + kSecret},
      {"AWS_SECRET_ACCESS_KEY=" + kSecret},
      {"-c", "export TOKEN=" + kSecret + "; true"},
      {"-c", "mysql --password " + kSecret + " -h db"},
      {"-c", "curl -H \"Authorization: Bearer " + kSecret + "\" https://x"},
      {"{\"user\": \"me\", \"password\": \"" + kSecret + "\"}"},
      {"{'apiKey':'" + kSecret + "'}"},
      {"--passphrase", kSecret},
      {"--pat", kSecret},
      {"--api-key", kSecret},
      {"--access-key", kSecret},
      {"--credentials", kSecret},
      {"curl", "-u", "me:" + kSecret},
      {"mysql", "-p" + kSecret},
      {"ghp_" + kSecret + "0123456789"},
      {"hf_" + kSecret + "0123456789"},
  };
  for (std::vector<std::string> command : commands) {
    command.insert(command.begin(), "run");
    CHECK_MESSAGE(hides(shown_command(command)), shown_command(command));
  }
}

TEST_CASE("what is no secret is shown as it is") {
  for (const char* const text :
       {"python3 train.py --steps=5 --pass=2 --tokenizer bpe --max-tokens 128 --token-count=7", "https://host/a?b=c#d",
        "basic block 3", "echo author: me", "--keyboard=us --sign=-", "sk-learn-contrib-something hf_hub_download",
        "ssh://user@trn1-07:22", "a: b", "{\"name\": \"mlp\", \"sizes\": [1, 2]}", "signal=9; passes=3"}) {
    CHECK(without_secrets(text) == text);
  }
}

TEST_CASE("a script that is shown keeps its lines, without what they hide") {
  CHECK(without_secrets("export HF_TOKEN=" + kSecret + "\npython3 train.py\n") ==
        "export HF_TOKEN=***\npython3 train.py\n");
  CHECK(without_secrets("Cookie: a=1; b=2\nnext: line") == "Cookie: ***\nnext: line");
  CHECK(without_secrets("PASSWORD='two words' run") == "PASSWORD='***' run");
  CHECK(without_secrets("https://me:" + kSecret + "@host:80/p https://you@host") ==
        "https://me:***@host:80/p https://you@host");
  CHECK(without_secrets("") == "");
  CHECK(without_secrets("password=") == "password=");
}
