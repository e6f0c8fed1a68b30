import AMQP
import Foundation
import Glibc
import Messages

/// Publishes events one after another, each confirmed and known to have reached a queue.
struct EventPublisher {
    var settings: ClusterSettings
    var options: EventOptions

    func publishAll(fromArguments: () throws -> Event, fromJSON: (EventLine) throws -> Event) async throws {
        let slices = try settings.sliceCount()
        try await settings.withBroker(name: "publish") { connection in
            let channel = try await connection.openChannel(confirms: true)
            try await settings.topology.declareShared(on: channel, slices: slices)
            var count = 0
            var apps = options.unchecked ? nil : AppCheck(settings)
            func publish(_ event: Event, id given: String? = nil) async throws {
                count += 1
                try await apps?.require(event)
                let id = given ?? options.idPrefix.map { "\($0)-\(count)" } ?? UUID().uuidString.lowercased()
                let (exchange, key) = event.destination(in: settings.topology, slices: slices)
                try await channel.publish(
                    try event.message(id: id), exchange: exchange, routingKey: key, mandatory: true)
                try report(id: id, exchange: exchange, key: key)
            }
            guard let file = options.file else { return try await publish(try fromArguments()) }
            var lines = try EventLines(file: file)
            while let line = try await lines.next() { try await publish(try fromJSON(line), id: try line.id) }
            if !options.json { Printing.note("\(count) published") }
        }
    }

    private func report(id: String, exchange: String, key: String) throws {
        if options.json {
            try Printing.json(["messageId": id, "exchange": exchange, "routingKey": key])
        } else if options.file == nil {
            Printing.line("published \(id) to \(exchange)\(key.isEmpty ? "" : " key \(key)")")
        }
    }
}

/// The non-empty lines of a file or of standard input, read as they come; a line is limited to 64 MiB.
struct EventLines {
    private static let maxLineBytes = 64 << 20
    private let handle: FileHandle
    /// What follows the last line feed read.
    private var rest = Data()
    /// Whole lines read and not yet handed out, last first.
    private var lines: [EventLine] = []
    private var number = 0
    private var isAtEnd = false

    init(file: String) throws {
        if file == "-" {
            handle = .standardInput
        } else if let opened = FileHandle(forReadingAtPath: file) {
            handle = opened
        } else {
            throw CommandFailure(.notFound, "cannot read \(file): no such file, or not allowed")
        }
    }

    /// The next line; nil at the end.
    mutating func next() async throws -> EventLine? {
        while lines.isEmpty, !isAtEnd {
            guard rest.count < Self.maxLineBytes else {
                throw CommandFailure(.badInput, "line \(number + 1) is longer than \(Self.maxLineBytes) bytes")
            }
            let chunk = try await read()
            isAtEnd = chunk.isEmpty
            rest.append(isAtEnd ? Data([0x0a]) : chunk)
            split()
        }
        return lines.popLast()
    }

    private mutating func split() {
        guard let end = rest.lastIndex(of: 0x0a) else { return }
        for line in rest[rest.startIndex..<end].split(separator: 0x0a, omittingEmptySubsequences: false) {
            number += 1
            let text = String(decoding: line, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
            if !text.isEmpty { lines.append(EventLine(number: number, text: text)) }
        }
        lines.reverse()
        rest = Data(rest[rest.index(after: end)...])
    }

    /// What there is, at least one byte before the end. A pipe may block for ever, so it is read on a queue of its own.
    private func read() async throws -> Data {
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global().async { [handle] in
                var chunk = [UInt8](repeating: 0, count: 1 << 20)
                let count = Glibc.read(handle.fileDescriptor, &chunk, chunk.count)
                let result: Result<Data, any Error> =
                    count >= 0
                    ? .success(Data(chunk[..<count]))
                    : .failure(CommandFailure(.badInput, "cannot read: \(String(cString: strerror(errno)))"))
                continuation.resume(with: result)
            }
        }
    }
}
