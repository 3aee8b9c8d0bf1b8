// A command as text: for a shell, and for those who may see a session.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace accelscope::capture::system {

// An argument as it is typed into a shell: quoted where it has to be.
[[nodiscard]] std::string shell_quote(std::string_view argument);
[[nodiscard]] std::string shell_command(const std::vector<std::string>& argv);
// The same for a session, which others may see: "***" for what without_secrets() hides, and for the values of options
// such as --password, --hf-token, --cookie or -u USER:PASSWORD.
[[nodiscard]] std::string shown_command(const std::vector<std::string>& argv);

// A word of the name says that its value is for nobody else: "--hf-token", "DB_PASSWORD", "apiKey".
[[nodiscard]] bool names_a_secret(std::string_view name, std::string_view value);

// A text that others may see (an argument, a header, a URL, JSON, a script): "***" for what follows a name that says so
// (API_KEY=, "password":, ?token=, Authorization:, Cookie:, --db-pass), for the password of a URL, for what follows
// Bearer or Basic, and for keys that are known by their form (ghp_..., hf_..., AKIA..., eyJ...). A secret without any
// such mark is not found.
[[nodiscard]] std::string without_secrets(std::string_view text);

}  // namespace accelscope::capture::system
