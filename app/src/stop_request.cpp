#include "stop_request.hpp"

#include <array>
#include <csignal>

#include <signal.h>

namespace nearfield::app
{
  namespace
  {
    constexpr std::array signals{SIGINT, SIGTERM};
    struct sigaction before[signals.size()];
    std::sig_atomic_t volatile caught = 0;

    // async-signal-safe
    void restore()
    {
      for (std::size_t s = 0; s < signals.size(); ++s) ::sigaction(signals[s], &before[s], nullptr);
    }

    void on_signal(int signal)
    {
      caught = signal;
      restore();
    }
  }

  stop_request::stop_request()
  {
    caught = 0;
    struct sigaction action = {};
    action.sa_handler = on_signal;
    action.sa_flags = SA_RESTART;
    // one at a time, so that the second meets what the first has restored
    sigemptyset(&action.sa_mask);
    for (int const signal : signals) sigaddset(&action.sa_mask, signal);
    for (std::size_t s = 0; s < signals.size(); ++s)
    {
      ::sigaction(signals[s], nullptr, &before[s]);
      if (before[s].sa_handler != SIG_IGN) ::sigaction(signals[s], &action, nullptr);
    }
  }

  stop_request::~stop_request()
  {
    restore();
  }

  bool stop_request::received()
  {
    return caught != 0;
  }

  void stop_request::pass_on()
  {
    if (caught == 0) return;
    restore();
    ::raise(caught);
  }
}
