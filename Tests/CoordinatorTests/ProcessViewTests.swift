import AdminAPI
import Inspection
import Messages
import SyncModel
import TestSupport
import Testing

@testable import Coordinator

@Suite struct ProcessViewTests {
    private func facts(_ version: String = "1.0.0", notReady: [String]? = nil) -> ProcessFacts {
        ProcessFacts(version: version, host: "h1", startedAt: 5, operations: "http://10.0.0.1:9101", notReady: notReady)
    }

    private func beat(_ worker: String, _ process: ProcessFacts?, isStaying: Bool = true) -> HeartbeatMessage {
        HeartbeatMessage(
            worker: worker, at: 1, owns: [SliceNumber(2), SliceNumber(0)], standsBy: [SliceNumber(1)], epochs: [:],
            process: process, load: 0, isStaying: isStaying)
    }

    @Test func everyRoleIsListedWithWhatItIsAndDoes() {
        var view = ProcessView()
        view.heard(
            GatewayFigures(
                gateway: "g1", at: 1, connections: 7, sessions: 9, changesets: 0, errors: 0, process: facts(),
                isStaying: true), at: 1_000)
        view.heard(beat("w1", facts(notReady: ["worker.store: refused"])), at: 1_000)
        view.heard(
            CoordinatorFigures(coordinator: "c1", at: 1, isActive: true, process: facts("1.1.0"), isStaying: true),
            at: 1_000)
        let list = view.list(at: 1_001)
        expectEqual(list.map { "\($0.role.rawValue) \($0.id)" }, ["coordinator c1", "worker w1", "gateway g1"])
        expectEqual(list.map(\.state), [.ready, .notReady, .ready])
        expectEqual(list[0].active, true)
        expectEqual(list[1].owns, [SliceNumber(0), SliceNumber(2)])
        expectEqual(list[1].notReady, ["worker.store: refused"])
        expectEqual(list[2].sessions, 9)
        expectEqual(list.map(\.host), ["h1", "h1", "h1"])
        let versions = ProcessList(processes: list).versions
        expectEqual(versions.map { "\($0.version) \($0.count)" }, ["1.0.0 2", "1.1.0 1"])
    }

    @Test func whoHasSaidGoodbyeIsGoneAndWhoIsSilentIsNot() {
        var view = ProcessView()
        for worker in ["w1", "w2"] { view.heard(beat(worker, facts()), at: 1_000) }
        view.heard(beat("w1", facts(), isStaying: false), at: 1_500)
        expectEqual(view.list(at: 1_500).map(\.id), ["w2"])
        expectEqual(view.list(at: 1_000 + ClusterView.silence).map(\.state), [.silent])
        expectEqual(view.list(at: 1_000 + ClusterView.memory), [])
    }

    @Test func aProcessOfAnEarlierVersionIsListedWithoutFacts() {
        var view = ProcessView()
        view.heard(beat("old", nil), at: 1_000)
        expectEqual(view.list(at: 1_000).map(\.state), [.unknown])
        expectTrue(view.list(at: 1_000).allSatisfy { $0.version == nil })
    }

    @Test func processesAreBounded() {
        var view = ProcessView()
        for number in 0...ProcessView.maxProcesses { view.heard(beat("w\(number)", nil), at: 1_000 + UInt64(number)) }
        let list = view.list(at: 4_000)
        expectEqual(list.count, ProcessView.maxProcesses)
        expectTrue(!list.contains { $0.id == "w0" })
    }

    @Test func theDoctorNamesThoseThatAreNotReadyOrSilentAndMixedVersions() {
        var ready = ProcessDocument(.coordinator, "c1", lastHeardAt: 1)
        ready.state = .ready
        ready.version = "1.0.0"
        var waiting = ProcessDocument(.worker, "w1", lastHeardAt: 1)
        waiting.state = .notReady
        waiting.notReady = ["worker.store: connection refused"]
        waiting.version = "1.1.0"
        var silent = ProcessDocument(.gateway, "g1", lastHeardAt: 1)
        silent.state = .silent
        silent.host = "h2"
        let found = Surgery.processes([ready, waiting, silent], but: "c1")
        expectEqual(found.map(\.subject), ["worker w1", "gateway g1", "versions"])
        expectEqual(found.map(\.level), [.fault, .warning, .warning])
        expectTrue(found[0].finding.contains("connection refused"))
        expectTrue(found[1].advice?.contains("h2") == true)
        expectEqual(Surgery.processes([ready], but: "c1").map(\.level), [.ok])
    }
}
