import AdminAPI
import Hummingbird
import Inspection
import Operations
import SyncModel

/// `doctor`: what is wrong with broker, stores and cluster, and what to do; settings are looked at by the command line.
struct DoctorRoutes: Sendable {
    let surgery: Surgery

    init(context: CoordinatorContext) { surgery = Surgery(context: context) }

    func add(to group: RouterGroup<AdminRequestContext>) {
        group.answer(.get, .doctor) { _, _ in await surgery.examine() }
    }
}

/// What the doctor has found.
struct DoctorDocument: Codable, Sendable {
    /// When it was found, in milliseconds of Unix time.
    var at: UInt64
    var diagnoses: [Diagnosis]
}

/// Has the doctor look, at most every few seconds: those who ask meanwhile get what was found last.
actor Surgery {
    static let age: UInt64 = 5_000

    private let context: CoordinatorContext
    private var last: DoctorDocument?
    private var running: Task<DoctorDocument, Never>?

    init(context: CoordinatorContext) { self.context = context }

    func examine() async -> DoctorDocument {
        let now = context.now
        if let last, now >= last.at, now - last.at < Self.age { return last }
        if let running { return await running.value }
        // The examination has a task of its own, since the request that began it may be given up while others wait for
        // what is found.
        let task = Task { [context] in await Self.examine(context) }
        running = task
        let found = await task.value
        (last, running) = (found, nil)
        return found
    }

    private static func examine(_ context: CoordinatorContext) async -> DoctorDocument {
        let link = context.link
        var found = await BrokerDoctor(
            connection: link.consumer, publisher: link.publisher, topology: context.topology, slices: context.slices
        ).objects()
        if let stores = context.configuration.stores {
            found += await StoreDoctor(stores: stores, slices: context.slices, checksIntegrity: false).examine()
        } else {
            found.add(
                .store, "stores", .unchecked, "this coordinator cannot read the slices' stores",
                "run sluice doctor where they can be read")
        }
        found += cluster(context)
        found += processes(context.state.processes(at: context.now), but: context.configuration.id)
        found += context.readiness.components.filter { !$0.ready && $0.name != "coordinator.slices" }.map {
            Diagnosis(.cluster, $0.name, .fault, $0.reason, "see docs/operations.md, Health and readiness")
        }
        return DoctorDocument(at: context.now, diagnoses: found)
    }

    /// Findings from the heartbeats of the other processes.
    ///
    /// - Parameter own: this coordinator, which says for itself how it stands.
    static func processes(_ processes: [ProcessDocument], but own: String) -> [Diagnosis] {
        var found: [Diagnosis] = []
        for process in processes where process.role != .coordinator || process.id != own {
            let subject = "\(process.role.rawValue) \(process.id)"
            let place = process.host.map { " on \($0)" } ?? ""
            switch process.state {
            case .silent:
                found.add(
                    .cluster, subject, .warning, "is silent, and has not said goodbye",
                    "see whether it runs\(place), and its log; ten minutes after its end nobody speaks of it any more")
            case .notReady:
                found.add(
                    .cluster, subject, .fault, "not ready: \(process.notReady?.joined(separator: "; ") ?? "")",
                    "see the log of the process\(place)")
            case .ready, .unknown: break
            }
        }
        let versions = ProcessList(processes: processes).versions
        if versions.count > 1 {
            found.add(
                .cluster, "versions", .warning,
                "the processes have several versions: "
                    + versions.map { "\($0.version) (\($0.count))" }.joined(separator: ", "),
                "finish the upgrade, or take it back; sluice processes says which is which")
        }
        if found.isEmpty, !processes.isEmpty {
            found.add(.cluster, "processes", .ok, "\(processes.count), all ready as far as they say")
        }
        return found
    }

    private static func cluster(_ context: CoordinatorContext) -> [Diagnosis] {
        let now = context.now
        var found: [Diagnosis] = []
        let slices = context.slicePictures(at: now)
        let ownerless = slices.filter { $0.owner == nil }
        if ownerless.isEmpty {
            found.add(.cluster, "owners", .ok, "every slice has an owner")
        } else {
            found.add(
                .cluster, "owners", .fault,
                "\(ownerless.count.counted("slice")) without an owner: "
                    + ownerless.prefix(Health.named).map(\.slice.description).joined(separator: ", "),
                "see that workers run, and what their logs say of these slices")
        }
        let alone = slices.filter { $0.owner != nil && $0.standBy.isEmpty }.count
        if alone > 0 {
            found.add(
                .cluster, "stand-bys", .warning, "\(alone.counted("slice")) without a stand-by",
                "run a second worker, on another machine")
        }
        for slice in slices {
            for held in slice.heldResets ?? [] {
                found.add(
                    .cluster, "slice \(slice.slice)", .warning,
                    "\(held.asked) of \(held.clientFiles.counted("client realm")) of \(held.app) were to reset within a minute, and wait",
                    "look why, then: sluice resets allow \(held.app)")
            }
        }
        for slice in slices.filter({ ($0.age(at: now) ?? 0) > Health.patience }).prefix(Health.named) {
            found.add(
                .cluster, "slice \(slice.slice)", .warning,
                "its oldest message is \(Health.duration(slice.age(at: now) ?? 0)) old",
                "see the owner's log, and docs/runbook.md, A slice falls behind")
        }
        return found
    }
}
