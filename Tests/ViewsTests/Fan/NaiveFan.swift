import RealmState
import SyncModel

@testable import Views

/// A commit of a random history.
struct PoolCommit: Sendable, CustomStringConvertible {
    struct Version: Sendable {
        var author: FileIdent
        /// What it touches, each with how it was before.
        var before: [PoolSlot: PoolObject?]
    }

    var follows: UInt64
    var versions: [Version]
    /// What is touched, as it is afterwards.
    var now: [PoolSlot: PoolObject]
    /// Whether the notice has the versions, which tell their authors.
    var hasEntries: Bool
    var addressed: Set<FileIdent>
    var stamp: UInt64
    /// The schema that the commit brings.
    var changed: Int?

    var latest: UInt64 { follows + UInt64(versions.count) }
    var touched: Set<PoolSlot> { Set(versions.flatMap(\.before.keys)) }

    func touched(by file: FileIdent) -> Set<PoolSlot> {
        hasEntries ? Set(versions.filter { $0.author == file }.flatMap(\.before.keys)) : []
    }

    /// Whether the commit answers a client file or has versions of it.
    func concerns(_ file: FileIdent) -> Bool {
        addressed.contains(file) || hasEntries && versions.contains { $0.author == file }
    }

    /// An object before each version that touches it, and now.
    func states(of slot: PoolSlot) -> [PoolObject?] { versions.compactMap { $0.before[slot] } + [now[slot]] }

    func stretch() throws -> FannedStretch {
        func encoded(_ objects: some Sequence<(PoolSlot, PoolObject?)>) -> [UInt8] {
            BeforeImages(objects.map { slot, object in .init(slot.slot, before: object?.stored(as: slot.pool)) })
                .encoded()
        }
        let entries = versions.enumerated().map { index, version in
            HistoryEntry(
                serverVersion: ServerVersion(follows + UInt64(index + 1)), clientVersion: 1,
                originFile: version.author, timestamp: 1, changeset: [])
        }
        let before = versions.indices.map { index in
            BeforeImages(versions[index].before.map { slot, object in image(slot, object, before: index) }).encoded()
        }
        return try FannedStretch(
            follows: ServerVersion(follows), latest: ServerVersion(latest), entries: hasEntries ? entries : [],
            before: before,
            now: encoded(touched.map { ($0, now[$0]) }), addressed: addressed)
    }

    /// Returns the image of an object before a version; in half of the commits it has only what the version has
    /// changed.
    private func image(_ slot: PoolSlot, _ object: PoolObject?, before index: Int) -> BeforeImages.Image {
        let whole = object?.stored(as: slot.pool)
        let following = versions[(index + 1)...].first { $0.before[slot] != nil }
        let next = following.map { $0.before[slot] ?? nil } ?? now[slot]
        guard follows.isMultiple(of: 2), let whole, let after = next?.stored(as: slot.pool) else {
            return BeforeImages.Image(slot.slot, before: whole)
        }
        var changed = StoredObject()
        for column in slot.pool.table?.columns ?? [] where whole[column.id] != after[column.id] {
            changed[column.id] = whole[column.id] ?? column.defaultValue
        }
        return BeforeImages.Image(slot.slot, before: changed, isPartial: true)
    }

    var description: String {
        let touches = versions.map { version in
            "by \(version.author) \(version.before.map { "\($0.key) \($0.value.map { "\($0)" } ?? "none")" })"
        }
        let after = touched.map { "\($0) \(now[$0].map { "\($0)" } ?? "none")" }
        return "commit \(follows) to \(latest), schema \(stamp), addressed \(addressed): \(touches), now \(after)"
    }
}

/// A model of the fan that tells whom commits concern, session by session and object by object.
struct NaiveFan {
    struct Session {
        var file: FileIdent
        var wanted: PoolDefinition
        var position: UInt64
    }

    /// What a session is told: at least some objects, and at most some.
    struct Told {
        var least: Set<PoolSlot>
        var most: Set<PoolSlot>
        /// The session is further than the commit: it may be told, and need not.
        var isOptional: Bool
    }

    var sessions: [UInt64: Session] = [:]
    var position: UInt64?
    var stamp: UInt64 = 0
    /// The schema that is known, as a place in `PoolClass.schemas`.
    var schema: Int?

    mutating func follow(_ number: UInt64, _ file: FileIdent, _ wanted: PoolDefinition, at version: UInt64) {
        var version = version
        if let known = sessions[number], known.file == file,
            known.wanted.definition.selectsLike(wanted.definition)
        {
            version = max(version, known.position)
        }
        sessions[number] = Session(file: file, wanted: wanted, position: version)
    }

    /// The sessions that have missed what is before a version.
    mutating func pass(to latest: UInt64, answering files: Set<FileIdent> = []) -> Set<UInt64> {
        let here = position ?? 0
        defer { position = max(here, latest) }
        return Set(
            sessions.filter { files.contains($0.value.file) || max($0.value.position, here) < latest }.map(\.key))
    }

    mutating func take(_ commit: PoolCommit) -> (lost: Set<UInt64>, told: [UInt64: Told]) {
        if let position, position >= commit.latest {
            return (Set(sessions.filter { commit.addressed.contains($0.value.file) }.map(\.key)), [:])
        }
        var lost = pass(to: commit.follows)
        position = commit.latest
        guard commit.stamp == stamp, let schema else {
            if let changed = commit.changed { (stamp, self.schema) = (commit.stamp, changed) }
            return (lost.union(sessions.filter { $0.value.position < commit.latest }.map(\.key)), [:])
        }
        var told: [UInt64: Told] = [:]
        for (number, session) in sessions where !lost.contains(number) {
            guard session.wanted.fits(schema) else {
                lost.insert(number)
                continue
            }
            let held = commit.touched.filter { slot in
                commit.states(of: slot).contains { session.wanted.selects($0, slot) }
            }
            let isFurther = session.position >= commit.latest
            if commit.concerns(session.file) {
                told[number] = Told(
                    least: held.union(commit.touched(by: session.file)), most: commit.touched, isOptional: isFurther)
            } else if !held.isEmpty {
                told[number] = Told(least: held, most: held, isOptional: isFurther)
            }
        }
        return (lost, told)
    }
}

extension ViewDefinition {
    /// Whether the same objects are selected, whatever the number of the set.
    func selectsLike(_ other: ViewDefinition) -> Bool { queries == other.queries && roles == other.roles }
}
