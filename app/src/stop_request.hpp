#pragma once

namespace nearfield::app
{
  /// While it exists, the first SIGINT or SIGTERM is a request to stop, for a loop that ends after its present step.
  /// The second ends the program as without this object. Signals that are ignored stay ignored. One object at a time.
  class stop_request
  {
  public:
    stop_request();
    ~stop_request();
    stop_request(stop_request const&) = delete;
    stop_request& operator=(stop_request const&) = delete;

    [[nodiscard]] static bool received();
    /// Ends the program by the signal that was received, so that a shell knows of it; returns if there was none.
    static void pass_on();
  };
}
