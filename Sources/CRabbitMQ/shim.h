#pragma once
// librabbitmq moved its headers in 0.12; Debian 12 still has 0.11.
#if __has_include(<rabbitmq-c/amqp.h>)
#include <rabbitmq-c/amqp.h>
#include <rabbitmq-c/framing.h>
#include <rabbitmq-c/tcp_socket.h>
#include <rabbitmq-c/ssl_socket.h>
#else
#include <amqp.h>
#include <amqp_framing.h>
#include <amqp_tcp_socket.h>
#include <amqp_ssl_socket.h>
#endif

// Variadic, which Swift cannot call; with PLAIN the arguments are the user and the password.
static inline amqp_rpc_reply_t amqp_shim_login_plain(
    amqp_connection_state_t state, const char *vhost, int channel_max, int frame_max, int heartbeat,
    const amqp_table_t *properties, const char *user, const char *password) {
    return amqp_login_with_properties(
        state, vhost, channel_max, frame_max, heartbeat, properties, AMQP_SASL_METHOD_PLAIN, user, password);
}

// Variadic likewise; with EXTERNAL the argument is the identity, and the broker trusts the client's certificate.
static inline amqp_rpc_reply_t amqp_shim_login_external(
    amqp_connection_state_t state, const char *vhost, int channel_max, int frame_max, int heartbeat,
    const amqp_table_t *properties, const char *identity) {
    return amqp_login_with_properties(
        state, vhost, channel_max, frame_max, heartbeat, properties, AMQP_SASL_METHOD_EXTERNAL, identity);
}

