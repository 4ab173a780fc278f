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
    volatile std::sig_atomic_t caught = 0;

    // async-signal-safe
    void restore(int signal)
    {
      for (std::size_t s = 0; s < signals.size(); ++s)
        if (signals[s] == signal) ::sigaction(signal, &before[s], nullptr);
    }

    void on_signal(int signal)
    {
      caught = signal;
      restore(signal);
    }
  }

  stop_request::stop_request()
  {
    caught = 0;
    struct sigaction action = {};
    action.sa_handler = on_signal;
    action.sa_flags = SA_RESTART;
    sigemptyset(&action.sa_mask);
    for (std::size_t s = 0; s < signals.size(); ++s)
    {
      ::sigaction(signals[s], nullptr, &before[s]);
      if (before[s].sa_handler != SIG_IGN) ::sigaction(signals[s], &action, nullptr);
    }
  }

  stop_request::~stop_request()
  {
    for (int const signal : signals) restore(signal);
  }

  bool stop_request::received()
  {
    return caught != 0;
  }

  void stop_request::pass_on()
  {
    if (caught == 0) return;
    restore(caught);
    ::raise(caught);
  }
}
