#include "bare_amqp.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

// librabbitmq moved its headers in 0.12; Debian 12 still has 0.11.
#if __has_include(<rabbitmq-c/amqp.h>)
#include <rabbitmq-c/amqp.h>
#include <rabbitmq-c/framing.h>
#include <rabbitmq-c/tcp_socket.h>
#else
#include <amqp.h>
#include <amqp_framing.h>
#include <amqp_tcp_socket.h>
#endif

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static amqp_connection_state_t connected(const bare_amqp_target_t *target) {
    amqp_connection_state_t state = amqp_new_connection();
    amqp_socket_t *socket = amqp_tcp_socket_new(state);
    if (socket == NULL || amqp_socket_open(socket, target->host, target->port) != AMQP_STATUS_OK) goto failed;
    if (amqp_login(state, target->virtual_host, 0, 131072, 0, AMQP_SASL_METHOD_PLAIN, target->user, target->password)
            .reply_type != AMQP_RESPONSE_NORMAL) goto failed;
    amqp_channel_open(state, 1);
    if (amqp_get_rpc_reply(state).reply_type == AMQP_RESPONSE_NORMAL) return state;
failed:
    amqp_destroy_connection(state);
    return NULL;
}

static double finished(amqp_connection_state_t state, double seconds) {
    amqp_connection_close(state, AMQP_REPLY_SUCCESS);
    amqp_destroy_connection(state);
    return seconds;
}

double bare_amqp_publish(const bare_amqp_target_t *target, int messages, int bytes, int window) {
    amqp_connection_state_t state = connected(target);
    if (state == NULL) return -1;
    amqp_confirm_select(state, 1);
    if (amqp_get_rpc_reply(state).reply_type != AMQP_RESPONSE_NORMAL) return finished(state, -1);
    char *text = malloc((size_t)bytes);
    memset(text, 'x', (size_t)bytes);
    amqp_bytes_t body = {.len = (size_t)bytes, .bytes = text};
    amqp_basic_properties_t properties = {._flags = AMQP_BASIC_DELIVERY_MODE_FLAG, .delivery_mode = 2};
    amqp_bytes_t key = amqp_cstring_bytes(target->queue);
    // Confirms may come out of order, one by one or many at once.
    char *confirmed = calloc((size_t)messages + 1, 1);
    int sent = 0, open = 0, lowest = 1;
    double result = -1, start = now();
    while (sent < messages || open > 0) {
        while (sent < messages && open < window) {
            if (amqp_basic_publish(state, 1, amqp_empty_bytes, key, 0, 0, &properties, body) != AMQP_STATUS_OK) goto done;
            sent += 1;
            open += 1;
        }
        // One confirm is waited for; those that came with it are taken too.
        struct timeval none = {0, 0};
        struct timeval *patience = NULL;
        for (;;) {
            amqp_frame_t frame;
            int status = amqp_simple_wait_frame_noblock(state, &frame, patience);
            if (status == AMQP_STATUS_TIMEOUT) break;
            if (status != AMQP_STATUS_OK || frame.frame_type != AMQP_FRAME_METHOD
                || frame.payload.method.id != AMQP_BASIC_ACK_METHOD) goto done;
            amqp_basic_ack_t *ack = frame.payload.method.decoded;
            int tag = (int)ack->delivery_tag;
            for (int each = ack->multiple ? lowest : tag; each <= tag; each++) {
                if (!confirmed[each]) {
                    confirmed[each] = 1;
                    open -= 1;
                }
            }
            while (lowest <= sent && confirmed[lowest]) lowest += 1;
            amqp_maybe_release_buffers_on_channel(state, 1);
            patience = &none;
        }
    }
    result = now() - start;
done:
    free(confirmed);
    free(text);
    return finished(state, result);
}

double bare_amqp_consume(const bare_amqp_target_t *target, int messages, int prefetch, int batch) {
    amqp_connection_state_t state = connected(target);
    if (state == NULL) return -1;
    amqp_basic_qos(state, 1, 0, (uint16_t)prefetch, 0);
    if (amqp_get_rpc_reply(state).reply_type != AMQP_RESPONSE_NORMAL) return finished(state, -1);
    double start = now();
    amqp_basic_consume(state, 1, amqp_cstring_bytes(target->queue), amqp_empty_bytes, 0, 0, 0, amqp_empty_table);
    if (amqp_get_rpc_reply(state).reply_type != AMQP_RESPONSE_NORMAL) return finished(state, -1);
    for (int count = 1; count <= messages; count++) {
        amqp_envelope_t envelope;
        amqp_maybe_release_buffers(state);
        if (amqp_consume_message(state, &envelope, NULL, 0).reply_type != AMQP_RESPONSE_NORMAL) return finished(state, -1);
        uint64_t tag = envelope.delivery_tag;
        amqp_destroy_envelope(&envelope);
        if (count % batch == 0 || count == messages) {
            if (amqp_basic_ack(state, 1, tag, 1) != AMQP_STATUS_OK) return finished(state, -1);
        }
    }
    return finished(state, now() - start);
}
