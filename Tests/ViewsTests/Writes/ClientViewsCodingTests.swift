import Changesets
import SeededRandom
import SyncModel
import TestSupport
import Testing

@testable import Views

/// The bytes in which a client file's views are kept.
@Suite struct ClientViewsCodingTests {
    /// The contents that are kept of a client file, to be compared.
    private struct Contents: Equatable {
        var segments: [Segment]
        var roles: String
        var begun: BegunBootstrap?
        var schemaVersion: UInt64?
        var partition: String?
        var compensations: [CompensatingWrite]

        struct Segment: Equatable {
            var start: ServerVersion
            var since: ServerVersion?
            var view: ViewDefinition
        }

        init(_ views: ClientViews) {
            segments = views.views.segments.map { Segment(start: $0.start, since: $0.since, view: $0.view) }
            roles = views.roles
            begun = views.begun
            schemaVersion = views.schemaVersion
            partition = views.partition
            compensations = views.compensations
        }
    }

    @Test func encodedClientViewsAreReadAsTheSame() throws {
        for seed in UInt64(1)...400 {
            var random = SeededGenerator(seed: seed)
            let views = random.clientViews()
            let read = try ClientViews(decoding: views.encoded())
            expectTrue(Contents(read) == Contents(views) && read.encoded() == views.encoded(), "seed \(seed): \(views)")
        }
    }

    @Test func cutOrExtendedBytesAreRefused() {
        for seed in UInt64(1)...20 {
            var random = SeededGenerator(seed: seed)
            let bytes = random.clientViews().encoded()
            for count in bytes.indices where (try? ClientViews(decoding: Array(bytes.prefix(count)))) != nil {
                Issue.record("seed \(seed): read from \(count) of \(bytes.count) bytes \(bytes)")
            }
            #expect(throws: ChangesetError.self, "seed \(seed): \(bytes)") { try ClientViews(decoding: bytes + [0]) }
        }
    }

    @Test func damagedBytesAreRefusedOrReadAsConsistentContents() {
        for seed in UInt64(1)...60 {
            var random = SeededGenerator(seed: seed)
            let bytes = random.clientViews().encoded()
            for position in bytes.indices {
                var damaged = bytes
                damaged[position] = UInt8(random.below(256))
                guard let read = try? ClientViews(decoding: damaged) else { continue }
                // What has been read is written as the same contents.
                guard let again = try? ClientViews(decoding: read.encoded()), Contents(again) == Contents(read) else {
                    Issue.record("seed \(seed): \(damaged) is read as \(read)")
                    return
                }
            }
        }
    }

    /// Rules of 99 kB, and 120 sets one after the other.
    @Test func textsThatAreTheSameAreKeptOnce() throws {
        let roles = String(repeating: "r", count: 99_000)
        var views = ClientViews(views: ViewHistory(), roles: roles)
        var bytes = 0
        for index in 1...120 {
            let view = ViewDefinition(
                version: UInt64(index), queries: "{\"Task\": \"team == 'x\(index)'\"}", roles: roles)
            let (before, grows) = (views.encoded().count, views.growth(by: view))
            views.views.begin(view, at: 7)
            let after = views.encoded().count
            expectTrue(
                grows < 100 && (index == 1 || abs(after - before - grows) < 40),
                "\(index): \(before), \(after), \(grows)")
            bytes = after
        }
        // The texts were once 12 MB.
        expectTrue(bytes < 110_000, "\(bytes)")
        let read = try ClientViews(decoding: views.encoded())
        expectTrue(Contents(read) == Contents(views))
        expectTrue(!views.hasManyViews(toBegin: 121) && views.mustBeConfirmed(at: 7) && !views.mustBeConfirmed(at: 8))
        for count in stride(from: 0, to: bytes, by: 997) {
            #expect(throws: ChangesetError.self) { try ClientViews(decoding: Array(views.encoded().prefix(count))) }
        }
        // Where little is the same, a release before can read it.
        let few = ClientViews(
            views: ViewHistory([.init(start: 1, view: ViewDefinition(version: 1, queries: "{}", roles: "r"))]),
            roles: "r")
        expectEqual(few.encoded().first, 4)
        expectEqual(views.encoded().first, 6)
    }

    /// Earlier releases wrote less of a view, and with a compensating write what the client was to get.
    @Test(arguments: 1...4) func formatsOfEarlierReleasesAreRead(_ format: UInt64) throws {
        for seed in UInt64(1)...60 {
            var random = SeededGenerator(seed: seed)
            let views = random.clientViews()
            var expected = Contents(views)
            if format == 1 || format == 2 { expected.partition = nil }
            if format == 1 { expected.schemaVersion = nil }
            if format == 2 { expected.schemaVersion = views.schemaVersion ?? 0 }
            if format == 3 { expected.partition = views.partition ?? "" }
            if format < 4 { for index in expected.segments.indices { expected.segments[index].since = nil } }
            let read = try ClientViews(decoding: bytes(of: expected, format, &random))
            expectEqual(Contents(read), expected, "seed \(seed): \(views)")
        }
    }

    private func bytes(of contents: Contents, _ format: UInt64, _ random: inout SeededGenerator) -> [UInt8] {
        var writer = VarintWriter()
        func write(_ text: String) { writer.write(lengthAnd: Array(text.utf8)) }
        writer.write(format)
        if format == 4 { writer.write(contents.partition != nil) }
        if format >= 3, let partition = contents.partition { write(partition) }
        if format >= 3 { writer.write(contents.schemaVersion != nil) }
        if let schemaVersion = contents.schemaVersion { writer.write(schemaVersion) }
        write(contents.roles)
        writer.write(UInt64(contents.segments.count))
        for segment in contents.segments {
            writer.write(segment.start.rawValue)
            if format == 4 { writer.write(segment.since != nil) }
            if let since = segment.since { writer.write(since.rawValue) }
            writer.write(segment.view.version)
            write(segment.view.queries)
            write(segment.view.roles)
        }
        writer.write(contents.begun != nil)
        if let begun = contents.begun {
            writer.write(begun.version)
            write(begun.gateway)
            writer.write(begun.session)
        }
        writer.write(UInt64(contents.compensations.count))
        for compensation in contents.compensations {
            let (version, clientVersion) = (compensation.version.rawValue, compensation.clientVersion.rawValue)
            for number in [
                version, clientVersion, compensation.isTold ? clientVersion : 0, compensation.timestamp.rawValue,
                UInt64(compensation.refused.count),
            ] {
                writer.write(number)
            }
            for refused in compensation.refused {
                writer.write(UInt64(refused.reason.rawValue))
                writer.write(lengthAnd: refused.className)
                writer.write(detached: refused.key)
            }
            writer.write(UInt64(compensation.objects.count))
            for object in compensation.objects {
                writer.write(lengthAnd: object.className)
                writer.write(detached: object.key)
            }
            writer.write(lengthAnd: (0..<random.below(20)).map { _ in UInt8(random.below(256)) })
        }
        return writer.bytes
    }
}
