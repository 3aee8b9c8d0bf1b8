// A command as text: for a shell, and for those who may see a session.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace accelscope::capture::system {

// An argument as it is typed into a shell: quoted where it has to be.
[[nodiscard]] std::string shell_quote(std::string_view argument);
[[nodiscard]] std::string shell_command(const std::vector<std::string>& argv);
// The same for a session, which others may see: "***" for what follows a name such as --password, API_KEY= or
// --hf-token, and for the password of a URL.
[[nodiscard]] std::string shown_command(const std::vector<std::string>& argv);

}  // namespace accelscope::capture::system
