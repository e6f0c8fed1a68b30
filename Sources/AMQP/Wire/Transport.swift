import CRabbitMQ

/// Moves frames between the connection's thread and the socket, without ever waiting for the other side to read.
protocol Transport: AnyObject {
    /// What `poll` watches.
    var descriptor: Int32 { get }

    /// Whether the library itself notices a broker that has gone silent, and throws; its heartbeats are then not
    /// reported.
    var noticesSilence: Bool { get }

    /// Sends as much as the socket takes.
    ///
    /// - Returns: how many bytes that was.
    func send(_ bytes: UnsafeRawBufferPointer) throws(AMQPError) -> Int

    /// Reads once and hands over every frame that is whole. What a frame points to is valid during the call only.
    ///
    /// - Returns: how many bytes came (nothing: zero) and whether more may be waiting already.
    func receive(_ handle: (amqp_frame_t) throws(AMQPError) -> Void) throws(AMQPError) -> (bytes: Int, more: Bool)
}

extension AMQPError {
    /// The error for a status of the C library.
    static func fromLibrary(_ status: Int32, _ code: Code, _ doing: String) -> AMQPError {
        AMQPError(code, "\(doing): \(String(cString: amqp_error_string2(status))) (\(status))")
    }
}
