import CRabbitMQ
import Logging

// Handling what the broker sends.
extension ConnectionLoop {
    func handle(_ frame: amqp_frame_t) throws(AMQPError) {
        if frame.channel != 0 {
            // A frame for an unknown channel crossed the channel's closing, and is dropped.
            try numbers[frame.channel]?.handle(frame)
            return
        }
        guard frame.frame_type == Frame.method, let arguments = frame.payload.method.decoded else { return }
        switch frame.payload.method.id {
        case Method.connectionBlocked:
            let reason = arguments.load(as: amqp_connection_blocked_t.self).reason.text
            blocked = reason
            logger.warning("the broker blocks publishers", metadata: ["reason": "\(reason)"])
            link.setState(.blocked(reason: reason))
        case Method.connectionUnblocked:
            blocked = nil
            logger.info("the broker takes publishes again")
            link.setState(.connected(generation: generation))
            for channel in channels.values { wantsToPublish(channel) }
        case Method.connectionClose:
            try closedByBroker(arguments.load(as: amqp_connection_close_t.self))
        case Method.connectionCloseOk:
            stopped = true
        default:
            throw AMQPError(.protocolError, "expected a method of the connection, not \(frame.payload.method.id)")
        }
    }

    private func closedByBroker(_ close: amqp_connection_close_t) throws(AMQPError) {
        let code = Int(close.reply_code)
        let text = close.reply_text.text
        try output.appendMethod(Method.connectionCloseOk, amqp_connection_close_ok_t(), channel: 0)
        if let transport { try? flush(transport) }
        let culprit = UInt32(close.class_id) << 16 | UInt32(close.method_id)
        let reason = AMQPError.fromBroker(replyCode: code, text: text, otherwise: .protocolError)
        lose(
            AMQPError(.connectionLost, "the broker closed the connection: \(text)", replyCode: code), culprit: culprit,
            reason: reason)
        throw AMQPError(.connectionLost, text, replyCode: code)
    }
}
