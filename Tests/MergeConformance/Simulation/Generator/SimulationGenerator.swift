/// Makes a simulation up from a seed while it runs, and writes down what it did.
package struct SimulationGenerator {
    package struct Options: Sendable {
        package var profile = SimulationProfile.rich
        package var rules = SimulationRules.convergent
        /// How many clients; nil for 2 to 4, by the seed.
        package var clients: Int?
        package var steps = 60
        package var fault: EngineFault?

        package init() {}
    }

    private let options: Options
    private let edits: EditGenerator
    private var random: SimulationRandom

    package init(seed: UInt64, _ options: Options) {
        self.options = options
        edits = EditGenerator(profile: options.profile)
        random = SimulationRandom(seed: seed)
    }

    /// Runs the seed's simulation.
    /// - Returns: its script, and how it failed if it did.
    package mutating func run() -> (script: SimulationScript, failure: SimulationFailure?) {
        let clients = options.clients ?? random.number(2...4)
        var script = SimulationScript(rules: options.rules, clients: clients, setup: options.profile.setup)
        // Merging in every other way costs as much again as all the rest.
        let checksLaws = random.oneIn(4)
        do throws(SimulationFailure) {
            var simulation = try Simulation(
                rules: options.rules, clients: clients, setup: script.setup, checksLaws: checksLaws,
                fault: options.fault)
            for _ in 0..<options.steps {
                for step in steps(simulation) {
                    script.steps.append(step)
                    try simulation.perform(step)
                }
            }
            script.steps.append(.quiet)
            try simulation.perform(.quiet)
            return (script, nil)
        } catch {
            return (script, error)
        }
    }

    private mutating func steps(_ simulation: Simulation) -> [SimulationStep] {
        let who = random.number(1...simulation.clients.count)
        var steps: [SimulationStep] = []
        if let clock = clockStep(who, simulation) { steps.append(clock) }
        let size = random.pick([(5, 1), (3, 2), (2, 4)]) ?? 1
        if simulation.clients[who - 1].isCutOff, random.oneIn(4) { return steps + [.reset(who, resetMode())] }
        let kind = random.pick([
            (300, 0), (130, 1), (130, 2), (110, 3), (110, 4), (20, 5), (15, 6), (15, 7), (12, 8), (20, 9), (5, 10),
            (4, 11), (15, 12),
        ])
        switch kind {
        case 0: steps.append(.write(who, edits.edits(size, on: simulation.clients[who - 1].state, &random)))
        case 1: steps.append(.upload(who, entries: random.oneIn(3) ? random.number(1...3) : 1_000))
        case 2: steps.append(.arrive(who))
        case 3: steps.append(.download(who, bytes: random.oneIn(2) ? random.number(1...200) : 100_000))
        case 4: steps.append(.integrate(who))
        case 5: steps.append(.reconnect(who))
        case 6: steps.append(.again(who))
        case 7: steps.append(.reload(random.below(simulation.clients.count + 1)))
        case 8: steps.append(.reset(who, resetMode()))
        case 9: steps.append(.write(0, edits.edits(size, on: simulation.server.state, &random)))
        case 10: steps.append(.terminate)
        case 11: steps.append(.hostile(random.below(3)))
        default: steps.append(.quiet)
        }
        return steps
    }

    private mutating func resetMode() -> SimulatedReset {
        random.pick([(1, .discard), (2, .recover), (1, .recoverOrDiscard)]) ?? .recover
    }

    /// Clocks mostly go on, sometimes back, and one time in four they agree with another's.
    private mutating func clockStep(_ who: Int, _ simulation: Simulation) -> SimulationStep? {
        guard random.oneIn(2) else { return nil }
        if random.oneIn(4) {
            let other = simulation.clients[random.below(simulation.clients.count)].clock
            let own = simulation.clients[who - 1].clock
            return other == own ? nil : .clock(who, by: Int64(other) - Int64(own))
        }
        if random.oneIn(16) { return .clock(random.oneIn(4) ? 0 : who, by: Int64(-random.number(1...16))) }
        return .clock(random.oneIn(6) ? 0 : who, by: Int64(random.number(1...5)))
    }
}
