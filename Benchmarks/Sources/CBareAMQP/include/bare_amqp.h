#pragma once

/// The peer that our AMQP client is measured against: plain calls of librabbitmq in a tight loop, on one thread, as its own
/// examples make them. Every function returns seconds, without connecting, or a negative number when something failed.

typedef struct {
    const char *host;
    int port;
    const char *user;
    const char *password;
    const char *virtual_host;
    const char *queue;
} bare_amqp_target_t;

/// Publishes messages and waits until all are confirmed, with at most `window` unconfirmed at any time.
double bare_amqp_publish(const bare_amqp_target_t *target, int messages, int bytes, int window);

/// Consumes messages and acknowledges them, `batch` at a time, the last one included.
double bare_amqp_consume(const bare_amqp_target_t *target, int messages, int prefetch, int batch);
