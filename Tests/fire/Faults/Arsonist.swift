import LocalCluster

/// Does to the cluster what the plan says, one step after the other, and undoes it.
struct Arsonist: Sendable {
    let cluster: BurningCluster
    let journal: Journal
    let echo: Echo
    let terminations: Terminations

    /// What can be done on this machine, and what of the asked for cannot and why.
    static func possible(_ wanted: [Fault], on cluster: BurningCluster) -> (faults: [Fault], missing: [String]) {
        var faults = wanted
        var missing: [String] = []
        if cluster.disk == nil, faults.contains(.fillDisk) {
            faults.removeAll { $0 == .fillDisk }
            missing.append("fillDisk needs root, to mount a file system of its own")
        }
        return (faults, missing)
    }

    func perform(_ steps: [FaultPlan<Fault>.Step]) async {
        await withTaskGroup(of: Void.self) { group in
            for step in steps {
                group.addTask {
                    try? await Task.sleep(for: .seconds(step.after))
                    if Task.isCancelled { return }
                    journal.note("\(step)")
                    do { try await perform(step) } catch { journal.note("\(step.fault.rawValue) went wrong: \(error)") }
                }
            }
        }
    }

    private func perform(_ step: FaultPlan<Fault>.Step) async throws {
        guard let victims = victims(of: step.fault) else { return try await perform(step, on: "") }
        // Two faults at a time do not hit the same process: one would start what the other is about to start.
        guard let victim = cluster.claim(oneOf: victims, choice: step.choice) else {
            return journal.note("\(step.fault.rawValue) finds nobody whom no other fault is at")
        }
        defer { cluster.release(victim) }
        try await perform(step, on: victim)
    }

    private func victims(of fault: Fault) -> [String]? {
        switch fault {
        case .killWorker, .stopWorker, .pauseWorker, .cutWorker: cluster.workers
        case .killGateway, .stopGateway, .pauseGateway, .cutGateway: cluster.gateways
        case .killCoordinator, .pauseCoordinator: ["coordinator"]
        case .moveClock: cluster.workers + ["coordinator"]
        // There is one of these, and a second fault at the same time would undo the first too early.
        case .killBroker, .restartBroker, .dropConnections, .memoryAlarm, .deleteSliceQueue: ["broker"]
        case .fillDisk: ["disk"]
        case .cutClients: ["entrance"]
        case .duplicateDeliveries, .terminate: nil
        }
    }

    private func perform(_ step: FaultPlan<Fault>.Step, on victim: String) async throws {
        let pause = Duration.seconds(step.lasts)
        switch step.fault {
        case .killWorker, .killGateway, .killCoordinator: try await restart(victim, orderly: false, after: pause)
        case .stopWorker, .stopGateway: try await restart(victim, orderly: true, after: pause)
        // Past the lease, which is 15 s, another takes the slices by right.
        case .pauseWorker: await pauseProcess(victim, .seconds(4 + 2 * step.lasts))
        case .pauseGateway, .pauseCoordinator: await pauseProcess(victim, pause)
        case .killBroker:
            try await cluster.broker.kill()
            try? await Task.sleep(for: pause)
            _ = try await cluster.broker.start()
        case .restartBroker:
            try await cluster.broker.stop()
            _ = try await cluster.broker.start()
        case .dropConnections: try await cluster.broker.control("close_all_connections", "fire")
        case .deleteSliceQueue:
            let slice = step.choice % UInt64(cluster.cluster.slices)
            try await cluster.broker.control("delete_queue", "\(cluster.cluster.prefix).slice.\(slice)")
        case .memoryAlarm:
            try await cluster.broker.control("set_vm_memory_high_watermark", "absolute", "1")
            try? await Task.sleep(for: pause)
            try await cluster.broker.control("set_vm_memory_high_watermark", "absolute", "2GB")
        case .cutWorker, .cutGateway: await hold(cluster.lines[victim], pause)
        case .cutClients: await hold(cluster.entrance, pause)
        case .duplicateDeliveries: try await echo.duplicate(for: pause)
        case .fillDisk:
            cluster.disk?.fill()
            try? await Task.sleep(for: pause)
            cluster.disk?.free()
        case .moveClock:
            let offset = Int(step.choice >> 8 & 0x3fff) - 0x2000
            journal.note("the clock of \(victim) is wrong by \(offset) s")
            await cluster.end(victim, orderly: false)
            try await cluster.start(victim, clockOffset: offset)
        case .terminate: await terminations.terminate()
        }
    }

    private func restart(_ name: String, orderly: Bool, after pause: Duration) async throws {
        journal.note("\(orderly ? "SIGTERM" : "SIGKILL") to \(name)")
        await cluster.end(name, orderly: orderly)
        try? await Task.sleep(for: pause)
        try await cluster.start(name)
    }

    private func pauseProcess(_ name: String, _ pause: Duration) async {
        journal.note("\(name) stands still")
        cluster.cluster.pause(name)
        try? await Task.sleep(for: pause)
        cluster.cluster.resume(name)
    }

    private func hold(_ line: TCPProxy?, _ pause: Duration) async {
        line?.hold(true)
        try? await Task.sleep(for: pause)
        line?.hold(false)
    }
}
