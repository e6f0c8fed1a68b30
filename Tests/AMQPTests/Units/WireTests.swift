import CRabbitMQ
import TestSupport
import Testing

@testable import AMQP

@Suite struct WireTests {
    @Test func publishIsTwoFramesThatTheLibraryReads() throws {
        let properties = AMQPProperties(type: "t", messageID: "m", headers: ["h": [1, "x", ["k": nil]]], priority: 3)
        let bytes = try MessageHead.encode(
            properties, bodyBytes: 70_000, exchange: "exchange", routingKey: "key", mandatory: true, channel: 513,
            frameMax: 4096)
        var frames: [amqp_frame_t] = []
        let state = try #require(amqp_new_connection())
        defer { amqp_destroy_connection(state) }
        bytes.withUnsafeBytes { buffer in
            var offset = 0
            while offset < buffer.count {
                var frame = amqp_frame_t()
                let rest = UnsafeMutableRawPointer(mutating: buffer.baseAddress.map { $0 + offset })
                let used = amqp_handle_input(state, amqp_bytes_t(len: buffer.count - offset, bytes: rest), &frame)
                guard used > 0 else { break }
                offset += Int(used)
                if frame.frame_type != 0 { frames.append(frame) }
            }
        }
        expectEqual(frames.map(\.channel), [513, 513])
        expectEqual(frames.first?.payload.method.id, Method.basicPublish)
        let header = try #require(frames.last)
        expectEqual(header.payload.properties.body_size, 70_000)
        let decoded = try #require(header.payload.properties.decoded)
        var reader = PropertiesReader()
        expectEqual(reader.read(decoded.assumingMemoryBound(to: amqp_basic_properties_t.self).pointee), properties)
    }

    @Test func tablesThatNestTooDeepAreTheCallersError() {
        var value: AMQPValue = 1
        for level in 0..<200 { value = level.isMultiple(of: 2) ? ["k": value] : [value] }
        let error = #expect(throws: AMQPError.self) {
            _ = try MessageHead.encode(
                AMQPProperties(headers: ["h": value]), bodyBytes: 0, exchange: "", routingKey: "", mandatory: false,
                channel: 1, frameMax: 131_072)
        }
        expectEqual(error?.code, .invalidArgument)
    }

    @Test func bodyIsSplitAtTheFrameLimitAndTheBufferGivesItAllBack() {
        var output = OutputBuffer()
        let body = (0..<1_000_000).map { UInt8(truncatingIfNeeded: $0) }
        output.appendHeartbeat()
        output.frameMax = 4096
        output.appendBody(body, channel: 1)
        var received: [UInt8] = []
        var types: [UInt8] = []
        var stream: [UInt8] = []
        // In odd portions, as a socket takes them.
        while output.count > 0 {
            let count = min(output.count, 70_001)
            stream += output.pending.prefix(count)
            output.consume(count)
        }
        var offset = 0
        while offset + 7 < stream.count {
            let size = stream[offset + 3..<offset + 7].reduce(0) { $0 << 8 | Int($1) }
            expectTrue(size <= 4096 - 8)
            types.append(stream[offset])
            if stream[offset] == Frame.body { received += stream[offset + 7..<offset + 7 + size] }
            expectEqual(stream[offset + 7 + size], Frame.endOctet)
            offset += size + 8
        }
        expectEqual(received, body)
        expectEqual(types.first, Frame.heartbeat)
        expectTrue(types.dropFirst().allSatisfy { $0 == Frame.body })
    }
}
