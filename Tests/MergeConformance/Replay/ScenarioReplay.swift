package import Changesets
import Merge
import RealmState

/// Replays a recorded scenario, and checks every result and the state in which every peer ends.
package struct ScenarioReplay {
    private let compatibility: PeerCompatibility
    private let engine: MergeEngine
    private var star = Star()
    private var states = PeerStates()
    private var server: UInt64 = 1
    private var report: FileReport
    private var recordedState: (line: Int, json: JSON)?
    /// Results that merging has made different from what came in.
    private var altered = 0
    /// Whether something has differed on purpose: from there on the recording is another history.
    private var isBesideTheRecording = false
    private var ignoredLines = 0

    /// - Parameter limit: how many differences the report keeps.
    package static func check(
        _ file: InputFile, compatibility: PeerCompatibility = .stockClients, limit: Int = 3
    ) -> FileReport {
        var replay = ScenarioReplay(compatibility, FileReport(file: file.name, unit: .events, limit: limit))
        var lastLine = 0
        do throws(ConformanceError) {
            for line in file.lines {
                lastLine = line.number ?? 0
                try replay.replay(try line.decode(RecordedEvent.self), line)
            }
            if replay.report.verdict == Verdict() {
                throw ConformanceError(.malformed, "expected integrate events, found none", file: file.name)
            }
            replay.finish(line: lastLine)
        } catch {
            // Nothing after it can be replayed: every later event builds on this one.
            replay.report.add(error)
        }
        return replay.report
    }

    private init(_ compatibility: PeerCompatibility, _ report: FileReport) {
        self.compatibility = compatibility
        self.report = report
        engine = MergeEngine(compatibility: compatibility)
    }

    private mutating func replay(_ event: RecordedEvent, _ line: InputLine) throws(ConformanceError) {
        switch event {
        case .begin(let begin): server = begin.server ?? server
        case .local(let local): try replay(local, line)
        case .integrate(let integrate): try replay(integrate, line)
        case .state(let json): recordedState = (line.number ?? 0, json)
        case .other: ignoredLines += 1
        }
    }

    private mutating func replay(_ local: RecordedEvent.Local, _ line: InputLine) throws(ConformanceError) {
        try checkVersion(local.version, of: local.peer, line)
        let changeset: Changeset
        do throws(ChangesetError) {
            changeset = try Changeset(parsing: local.changeset.bytes)
        } catch {
            throw line.malformed("expected a changeset of peer \(local.peer), found \(error)")
        }
        star.append(
            Star.Entry(version: local.version, timestamp: local.timestamp, origin: local.peer, changeset: changeset),
            to: local.peer)
        apply([changeset], to: local.peer, line, "peer \(local.peer) writes version \(local.version)")
    }

    private mutating func replay(_ event: RecordedEvent.Integrate, _ line: InputLine) throws(ConformanceError) {
        try checkVersion(event.version, of: event.peer, line)
        guard event.peer != server || event.changesets.count == 1 else {
            throw line.malformed("expected one changeset an event at the server, found \(event.changesets.count)")
        }
        guard let last = event.changesets.last else { throw line.malformed("expected changesets, found none") }
        let step = try merge(event, line)
        let isEqual = compare(step, event, line)
        report.verdict.count(isEqual)
        // The recording is the truth to go on from, unless we have left it on purpose.
        let result = step.changesets.flatMap { isEqual ? $0 : nil } ?? Self.parts(event.result.bytes)
        star.append(
            Star.Entry(
                version: event.version, timestamp: last.timestamp, origin: last.originFileIdent, from: event.from,
                changeset: result.count == 1 ? result[0] : Changeset()), to: event.peer)
        star.note(event.peer, saw: last.version, of: event.from)
        apply(result, to: event.peer, line, Self.text(event))
    }

    /// What an integration came to.
    private struct Step {
        /// nil if the merge refused it.
        var changesets: [Changeset]?
        var refusal = ""
        var reasons: [DeliberateDifference] = []
    }

    private mutating func merge(
        _ event: RecordedEvent.Integrate, _ line: InputLine
    ) throws(ConformanceError) -> Step {
        var incoming: [IncomingChangeset] = []
        do throws(ChangesetError) {
            for recorded in event.changesets { incoming.append(try recorded.incoming()) }
        } catch {
            throw line.malformed("expected changesets of peer \(event.from), found \(error)")
        }
        let base = incoming.map(\.lastIntegratedLocalVersion).min() ?? 0
        let local = star.window(of: event.peer, for: event.from, after: base)
        var step = Step()
        if compatibility != .stockClients {
            step.reasons = DeliberateDifference.possible(
                between: local.lazy.flatMap(\.changeset.instructions),
                and: incoming.lazy.flatMap(\.changeset.instructions))
        }
        do throws(MergeError) {
            let result = try engine.transform(
                incoming: incoming, over: local, currentLocalVersion: star.currentVersion(of: event.peer))
            if result.incoming != incoming.map(\.changeset) { altered += 1 }
            star.store(result.modifiedLocal, of: event.peer, for: event.from)
            step.changesets = result.incoming
        } catch {
            step.refusal = "\(error)"
        }
        return step
    }

    /// Whether the step is as recorded, or differs only as it may.
    private mutating func compare(_ step: Step, _ event: RecordedEvent.Integrate, _ line: InputLine) -> Bool {
        if let changesets = step.changesets, changesets.flatMap({ $0.encoded() }) == event.result.bytes { return true }
        let comparison = InstructionComparison(
            expected: InstructionList(recorded: event.result.bytes),
            ours: step.changesets.map { InstructionList($0) } ?? InstructionList(words: "refused: \(step.refusal)"))
        guard let first = comparison.firstDifference else {
            report.accept(PairCheck.interning)
            return true
        }
        if !step.reasons.isEmpty || isBesideTheRecording, step.changesets != nil {
            let reasons = step.reasons.map(\.rawValue).joined(separator: "+")
            report.accept(reasons.isEmpty ? "consequence" : reasons)
            isBesideTheRecording = true
            return true
        }
        let message =
            step.changesets == nil
            ? "expected a result, came an error" : "the result differs in instruction \(first + 1)"
        var difference = Difference(
            step.changesets == nil ? .refusal : .instructions, line: line.number ?? 0, event: Self.text(event),
            message: message, comparison: comparison)
        (difference.peer, difference.from, difference.version) = (event.peer, event.from, event.version)
        report.add(difference)
        return false
    }

    private mutating func apply(_ changesets: [Changeset], to peer: UInt64, _ line: InputLine, _ event: String) {
        states.add(peer)
        do throws(RealmStateError) {
            try states.apply(changesets, to: peer)
        } catch {
            var difference = Difference(
                .apply, line: line.number ?? 0, event: event, message: "expected changes that can be applied: \(error)")
            difference.peer = peer
            report.add(difference)
        }
    }

    /// Versions count up; everything in a history is found by them.
    private func checkVersion(_ version: UInt64, of peer: UInt64, _ line: InputLine) throws(ConformanceError) {
        let current = star.currentVersion(of: peer)
        guard version > current else {
            throw line.malformed("expected a version of peer \(peer) after \(current), found \(version)")
        }
    }

    private static func text(_ event: RecordedEvent.Integrate) -> String {
        let versions = event.changesets.map { String($0.version) }
        let what =
            versions.count == 1
            ? "version \(versions[0])" : "versions \(versions.first ?? "")...\(versions.last ?? "")"
        return "peer \(event.peer) integrates \(what) of peer \(event.from) as its version \(event.version)"
    }

    private static func parts(_ bytes: [UInt8]) -> [Changeset] {
        let parts = (try? ConcatenatedChangesets.split(bytes)) ?? []
        return parts.compactMap { try? Changeset(parsing: $0) }
    }
}

// MARK: - The end

extension ScenarioReplay {
    private mutating func finish(line: Int) {
        let synchronized = star.synchronizedPeers(server: server)
        let expected = recordedState?.json.sortedState
        let groups = states.groups(of: expected == nil ? synchronized : states.peers)
        var note = "\(altered) altered by merging, "
        if let expected {
            for group in groups { compare(group, expected) }
            note += "\(states.peers.count) peers end as recorded"
        } else {
            note += "no recorded state, \(synchronized.count) peers compared"
        }
        if groups.count > 1 {
            let text = groups.map { "\($0)" }.joined(separator: " and ")
            add("expected all peers to hold the same, found \(text) to differ", line: line)
        }
        if report.differenceCount > 0 {
            note = "\(altered) altered by merging"
        } else if ignoredLines > 0 {
            note += ", \(ignoredLines) lines of an unknown kind"
        }
        report.note = note
    }

    /// All peers of a group hold the same.
    private mutating func compare(_ group: [UInt64], _ expected: JSON) {
        guard let peer = group.first, let line = recordedState?.line else { return }
        do {
            guard let ours = try states.json(of: peer)?.sortedState, ours != expected else { return }
            guard let difference = expected.firstDifference(ours) else { return }
            if isBesideTheRecording { return report.accept("state") }
            add(
                "peers \(group) end in another state, \(difference.place): expected \(difference.expected),"
                    + " came \(difference.ours)", line: line)
        } catch {
            add("peers \(group) hold what cannot be dumped: \(error)", line: line)
        }
    }

    private mutating func add(_ message: String, line: Int) {
        report.add(Difference(.state, line: line, event: "at the end", message: message))
    }
}
