import ArgumentParser
import Changesets
import Foundation
import RealmState

/// What a slice's owner computes for each changeset of a client that creates objects, beside the merge and the store.
struct ApplyBench: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "apply",
        abstract: "Changesets that create objects: microseconds of processor time each, by what is done with them.")

    @Option(help: "Changesets in each run.") var changesets = 20_000
    @Option(help: "Objects that each of them creates, with four properties.") var objects = 5
    @Option(help: "Runs; the best of each part counts.") var runs = 5
    @Flag(help: "Print one JSON line for each part.") var json = false

    private static let batch = 100
    private static let parts = ["read", "find what is touched", "apply", "encode", "encode the objects"]

    func validate() throws {
        guard changesets > 0, objects > 0, runs > 0 else { throw ValidationError("expected changesets, objects, runs") }
    }

    func run() throws {
        let inputs = (0..<changesets).map(encoded)
        var best = [Double](repeating: .infinity, count: Self.parts.count)
        for _ in 0..<runs {
            let times = try measure(inputs)
            best = zip(best, times).map { min($0, $1) }
        }
        for (name, microseconds) in zip(Self.parts, best) {
            if json {
                Measurement(name: "apply/\(name)", value: microseconds, unit: "us", comparison: nil).printLine()
            } else {
                print(String(format: "%8.2f us  ", microseconds) + name)
            }
        }
    }

    private func measure(_ inputs: [[UInt8]]) throws -> [Double] {
        var seconds = [Double](repeating: 0, count: Self.parts.count)
        var state = RealmState()
        try state.apply(Self.declaration)
        _ = state.takeChanges()
        for first in stride(from: 0, to: inputs.count, by: Self.batch) {
            var last = Self.processorSeconds
            func note(_ part: Int) {
                let now = Self.processorSeconds
                seconds[part] += now - last
                last = now
            }
            let batch = try inputs[first..<min(first + Self.batch, inputs.count)].map { try Changeset(parsing: $0) }
            note(0)
            let touched = batch.reduce(0) { $0 + $1.touchedAddresses.count }
            note(1)
            for changeset in batch {
                state.begin()
                try state.apply(changeset)
                state.commit()
            }
            note(2)
            let bytes = batch.reduce(0) { $0 + $1.encoded().count }
            note(3)
            let rows = state.takeChanges().upserted.map { $0.object.encoded() }
            note(4)
            guard rows.count == touched, bytes > 0 else { throw BenchFailure("not every object has come to be") }
        }
        return seconds.map { $0 / Double(inputs.count) * 1e6 }
    }

    private static var processorSeconds: Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    private static let fields: [(name: ByteString, type: PayloadType)] = [
        ("title", .string), ("state", .string), ("count", .int), ("at", .timestamp),
    ]

    private static var declaration: Changeset {
        var strings = InternTable()
        let table = strings.intern("Item")
        let key = Instruction.AddTable.Kind.topLevel(
            keyField: strings.intern("_id"), keyType: .objectID, keyNullable: false, asymmetric: false)
        let columns = fields.map { field in
            Instruction.addColumn(
                .init(
                    table: table, field: strings.intern(field.name), type: field.type, nullable: false,
                    collection: .single))
        }
        return Changeset(
            strings: strings, instructions: [.addTable(.init(table: table, kind: key))] + columns)
    }

    private func encoded(_ number: Int) -> [UInt8] {
        var encoder = StreamingEncoder()
        let table = encoder.strings.intern("Item")
        let fields = Self.fields.map { encoder.strings.intern($0.name) }
        for index in 0..<objects {
            let key = PrimaryKey.objectID(ObjectIDValue(high: UInt64(number), low: UInt32(index)))
            encoder.append(.createObject(table: table, object: key))
            let values: [Payload] = [
                .string(ByteString("a title of some length, number \(number)")), .string("open"), .int(Int64(number)),
                .timestamp(TimestampValue(seconds: Int64(number), nanoseconds: 0)),
            ]
            for (field, value) in zip(fields, values) {
                encoder.append(
                    .update(
                        .init(
                            target: FieldPath(table: table, object: key, field: field), value: value,
                            qualifier: .isDefault(false))))
            }
        }
        return encoder.bytes
    }
}
