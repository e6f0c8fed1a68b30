/// The frames of AMQP 0-9-1, section 4.2: type, channel, size, payload, end.
enum Frame {
    static let method: UInt8 = 1
    static let header: UInt8 = 2
    static let body: UInt8 = 3
    static let heartbeat: UInt8 = 8

    /// Type, channel and size before the payload, and the end octet after it.
    static let overhead = 8
    static let headBytes = 7
    static let endOctet: UInt8 = 0xCE

    /// The class whose messages have content.
    static let basicClass = 60

    static func begin(_ type: UInt8, channel: UInt16, payloadBytes: Int, at base: UnsafeMutableRawPointer) {
        base.storeBytes(of: type, as: UInt8.self)
        (base + 1).storeBytes(of: channel.bigEndian, as: UInt16.self)
        (base + 3).storeBytes(of: UInt32(truncatingIfNeeded: payloadBytes).bigEndian, as: UInt32.self)
    }

    static func end(at base: UnsafeMutableRawPointer) {
        base.storeBytes(of: endOctet, as: UInt8.self)
    }
}

/// The numbers of the methods, class and method in one: what C's macros hide behind a cast.
enum Method {
    static let connectionClose: UInt32 = 10 << 16 | 50
    static let connectionCloseOk: UInt32 = 10 << 16 | 51
    static let connectionBlocked: UInt32 = 10 << 16 | 60
    static let connectionUnblocked: UInt32 = 10 << 16 | 61
    static let channelOpen: UInt32 = 20 << 16 | 10
    static let channelFlow: UInt32 = 20 << 16 | 20
    static let channelFlowOk: UInt32 = 20 << 16 | 21
    static let channelClose: UInt32 = 20 << 16 | 40
    static let channelCloseOk: UInt32 = 20 << 16 | 41
    static let exchangeDeclare: UInt32 = 40 << 16 | 10
    static let exchangeDelete: UInt32 = 40 << 16 | 20
    static let queueDeclare: UInt32 = 50 << 16 | 10
    static let queueBind: UInt32 = 50 << 16 | 20
    static let queuePurge: UInt32 = 50 << 16 | 30
    static let queueDelete: UInt32 = 50 << 16 | 40
    static let queueUnbind: UInt32 = 50 << 16 | 50
    static let basicQos: UInt32 = 60 << 16 | 10
    static let basicConsume: UInt32 = 60 << 16 | 20
    static let basicCancel: UInt32 = 60 << 16 | 30
    static let basicPublish: UInt32 = 60 << 16 | 40
    static let basicReturn: UInt32 = 60 << 16 | 50
    static let basicDeliver: UInt32 = 60 << 16 | 60
    static let basicGet: UInt32 = 60 << 16 | 70
    static let basicGetOk: UInt32 = 60 << 16 | 71
    static let basicGetEmpty: UInt32 = 60 << 16 | 72
    static let basicAck: UInt32 = 60 << 16 | 80
    static let basicReject: UInt32 = 60 << 16 | 90
    static let basicNack: UInt32 = 60 << 16 | 120
    static let confirmSelect: UInt32 = 85 << 16 | 10

    /// The number of the answer to a method.
    static func reply(to method: UInt32) -> UInt32 { method + 1 }
}
