import DequeModule
import Foundation
import HeapModule
import SeededRandom
import Worker

/// A termination of an app, as discrete events: each client realm is told, comes back, waits for its turn by the rule that owners
/// use (`ResetPace`), downloads its realm, uploads what it had not synced, and reports. What each of that takes is measured
/// (`UnitCosts`); a slice does one thing at a time, on a core of its workers'.
struct TerminationSimulation {
    struct Setup {
        var clientRealms: Int
        /// How many are connected when the termination comes; the others come over time.
        var connected: Double
        /// The hours after which the others come, on average.
        var awayHours: Double
        var slices: Int
        var gatewayCores: Int
        var workerCores: Int
        /// The cores of one broker node; each node does all of the broker's work.
        var brokerCores: Int
        var objects: Int
        var objectBytes: Int
        /// Changesets that a client had not synced.
        var unsynced: Int
        var seed: UInt64
    }

    struct Result {
        /// Seconds from the termination on until those that were connected were told, and until all were reset.
        var told: [Double] = []
        var reset: [Double] = []
        var marked = 0.0
        var reported = 0.0
        var openings = 0
        var sentAway = 0
        var megabytes = 0.0
        var longestQueue = 0
    }

    /// What a client realm does next. Raw values are the order.
    private enum Step: UInt8 {
        case learning, opening, brokering, binding, restarting, downloading, uploading, integrating
    }

    private struct Event: Comparable {
        var time: Double
        var number: UInt64
        var client: Int32
        var step: Step
        /// The slice is free again with this event.
        var frees = false

        static func < (one: Event, other: Event) -> Bool {
            one.time != other.time ? one.time < other.time : one.number < other.number
        }
        static func == (one: Event, other: Event) -> Bool { one.number == other.number }
    }

    /// What one slice has to do, in turn.
    private struct Slice {
        var waiting: Deque<(client: Int32, step: Step)> = []
        var isBusy = false
        var clientRealms = 0
        var unmarked = 0
        var pace: ResetPace?
    }

    let setup: Setup
    let costs = UnitCosts()
    private let limits = WorkerLimits()
    private(set) var gateways: Station
    private(set) var workers: Station
    private(set) var broker: Station
    private(set) var coordinator = Station(cores: 1)
    private var slices: [Slice]
    private var events = Heap<Event>()
    private var number: UInt64 = 0
    private var random: SeededGenerator
    private var result = Result()

    init(_ setup: Setup) {
        self.setup = setup
        gateways = Station(cores: setup.gatewayCores)
        workers = Station(cores: setup.workerCores)
        broker = Station(cores: setup.brokerCores)
        slices = Array(repeating: Slice(), count: setup.slices)
        random = SeededGenerator(seed: setup.seed)
    }

    /// The client that stands for a slice's own steps: marking.
    private static let marking: Int32 = -1

    mutating func run() -> Result {
        for client in 0..<setup.clientRealms {
            slices[client % setup.slices].clientRealms += 1
            let isConnected = share() < setup.connected
            // Clients that are away learn of their reset when they come.
            let time = isConnected ? 0 : -log(max(share(), 1e-12)) * setup.awayHours * 3600
            push(time, Int32(client), .learning)
        }
        for index in slices.indices {
            slices[index].unmarked = slices[index].clientRealms
            enqueue(Self.marking, .binding, on: index, at: 0)
        }
        while let event = events.popMin() { take(event) }
        result.told.sort()
        result.reset.sort()
        return result
    }

    /// Returns a random number from 0 to 1.
    private mutating func share() -> Double { Double(random.next() >> 11) / Double(1 << 53) }

    private mutating func push(_ time: Double, _ client: Int32, _ step: Step, frees: Bool = false) {
        number += 1
        events.insert(Event(time: time, number: number, client: client, step: step, frees: frees))
    }

    private func slice(of client: Int32) -> Int { Int(client) % setup.slices }

    private mutating func take(_ event: Event) {
        let (now, client) = (event.time, event.client)
        if event.frees { return finish(event) }
        switch event.step {
        case .learning:
            let told = gateways.work(costs.told.gateway, at: now)
            if now == 0 { result.told.append(told) }
            report(costs.told, at: told)
            push(told, client, .opening)
        case .opening:
            result.openings += 1
            push(gateways.work(costs.session.gateway, at: now), client, .brokering)
        case .brokering: push(broker.work(costs.session.broker, at: now), client, .binding)
        case .binding, .restarting, .integrating: enqueue(client, event.step, on: slice(of: client), at: now)
        case .downloading:
            let megabytes = Double(setup.objects * setup.objectBytes) / 1e6
            result.megabytes += megabytes
            push(gateways.work(megabytes * costs.megabyte.gateway, at: now), client, .uploading)
        case .uploading:
            let gateway = gateways.work(costs.session.gateway / 2 + 0.036 * Double(setup.unsynced), at: now)
            push(gateway, client, .integrating)
        }
    }

    private mutating func report(_ work: UnitCosts.Work, at now: Double) {
        result.reported = max(
            result.reported, coordinator.work(work.coordinator, at: broker.work(work.broker, at: now)))
    }

    // MARK: Slices

    private mutating func enqueue(_ client: Int32, _ step: Step, on index: Int, at now: Double) {
        slices[index].waiting.append((client, step))
        result.longestQueue = max(result.longestQueue, slices[index].waiting.count)
        if !slices[index].isBusy { begin(index, at: now) }
    }

    private mutating func begin(_ index: Int, at now: Double) {
        guard let (client, step) = slices[index].waiting.popFirst() else { return }
        slices[index].isBusy = true
        let milliseconds =
            switch (client, step) {
            case (Self.marking, _):
                costs.told.worker * Double(min(slices[index].unmarked, limits.termination.rowsPerStep))
            case (_, .restarting): costs.object.worker * Double(setup.objects)
            case (_, .integrating): costs.changeInBulk.worker * Double(setup.unsynced)
            default: costs.session.worker
            }
        // The client says which slice is free again; for the slice's own steps, the slice's negative number does.
        let whose = client == Self.marking ? -Int32(index) - 1 : client
        push(workers.work(milliseconds, at: now), whose, step, frees: true)
    }

    private mutating func finish(_ event: Event) {
        let (now, client) = (event.time, event.client)
        let index = client < 0 ? Int(-client - 1) : slice(of: client)
        slices[index].isBusy = false
        if client < 0 {
            slices[index].unmarked -= min(slices[index].unmarked, limits.termination.rowsPerStep)
            result.marked = max(result.marked, now)
            if slices[index].unmarked > 0 { slices[index].waiting.append((Self.marking, .binding)) }
        } else {
            advance(client, from: event.step, on: index, at: now)
        }
        if !slices[index].isBusy { begin(index, at: now) }
    }

    private mutating func advance(_ client: Int32, from step: Step, on index: Int, at now: Double) {
        switch step {
        case .binding:
            let uptime = UInt64(now * 1000)
            let pace =
                slices[index].pace
                ?? ResetPace(
                    generation: 1, startedAt: uptime, clientRealms: slices[index].clientRealms, limits: limits)
            slices[index].pace = pace
            guard let wait = pace.wait(user: "user-\(client)", partition: "realm-\(client)", at: uptime) else {
                return push(now, client, .restarting)
            }
            // A client waits up to a quarter less than it is told.
            result.sentAway += 1
            push(now + Double(wait) * (1 - share() / 4), client, .opening)
        case .restarting: push(now, client, .downloading)
        case .integrating:
            result.reset.append(now)
            report(costs.report, at: now)
        case .learning, .opening, .brokering, .downloading, .uploading: break
        }
    }
}
