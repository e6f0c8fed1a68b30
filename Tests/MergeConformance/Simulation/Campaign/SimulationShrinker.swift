/// Makes a failing script as small as it gets while it fails in the same way (docs/merge.md, "Promises").
///
/// Every part of a script is a script, so parts can be left out without looking at what they mean.
package struct SimulationShrinker {
    private let invariant: Invariant
    private let fault: EngineFault?
    /// How many more scripts may be tried.
    private var budget: Int

    package init(_ invariant: Invariant, fault: EngineFault? = nil, budget: Int = 6_000) {
        self.invariant = invariant
        self.fault = fault
        self.budget = budget
    }

    package mutating func shrink(_ script: SimulationScript) -> SimulationScript {
        var best = script
        var size = Int.max
        while size > Self.size(best), budget > 0 {
            size = Self.size(best)
            dropClients(&best)
            shrink(&best, \.steps)
            dropEdits(&best)
            shrink(&best, \.setup)
            lowerOperands(&best)
        }
        return best
    }

    private static func size(_ script: SimulationScript) -> Int {
        script.description.utf8.count + script.clients * 100
    }

    private mutating func fails(_ script: SimulationScript) -> Bool {
        guard budget > 0 else { return false }
        budget -= 1
        return Simulation.run(script, fault: fault)?.invariant == invariant
    }

    // MARK: Clients and steps

    private mutating func dropClients(_ script: inout SimulationScript) {
        var who = script.clients
        while who >= 1, script.clients > 1 {
            var smaller = script
            smaller.clients -= 1
            smaller.steps = script.steps.compactMap { $0.without(client: who) }
            if fails(smaller) { script = smaller }
            who -= 1
        }
    }

    /// Delta debugging: leaves out ever smaller parts of a list.
    private mutating func shrink<Element>(
        _ script: inout SimulationScript, _ list: WritableKeyPath<SimulationScript, [Element]>
    ) {
        var part = max(1, script[keyPath: list].count / 2)
        while budget > 0 {
            var start = 0
            var isSmaller = false
            while start < script[keyPath: list].count {
                var smaller = script
                let end = min(start + part, script[keyPath: list].count)
                smaller[keyPath: list].removeSubrange(start..<end)
                if fails(smaller) {
                    script = smaller
                    isSmaller = true
                } else {
                    start += part
                }
            }
            if part == 1, !isSmaller { return }
            part = max(1, part / 2)
        }
    }

    private mutating func dropEdits(_ script: inout SimulationScript) {
        for position in script.steps.indices {
            guard case .write(let who, var edits) = script.steps[position] else { continue }
            var index = edits.count - 1
            while index >= 0 {
                var fewer = edits
                fewer.remove(at: index)
                var smaller = script
                smaller.steps[position] = .write(who, fewer)
                if fails(smaller) {
                    script = smaller
                    edits = fewer
                }
                index -= 1
            }
        }
    }

    // MARK: Operands

    private mutating func lowerOperands(_ script: inout SimulationScript) {
        for position in script.steps.indices {
            for simpler in script.steps[position].simpler {
                var smaller = script
                smaller.steps[position] = simpler
                if fails(smaller) { script = smaller }
            }
            guard case .write(let who, let edits) = script.steps[position] else { continue }
            var current = edits
            for index in edits.indices {
                for simpler in edits[index].simpler {
                    var changed = current
                    changed[index] = simpler
                    var smaller = script
                    smaller.steps[position] = .write(who, changed)
                    if fails(smaller) {
                        script = smaller
                        current = changed
                        break
                    }
                }
            }
        }
    }
}

extension SimulationStep {
    /// The step where a client has been taken out and those behind it count one less; nil if it was that client's.
    fileprivate func without(client: Int) -> SimulationStep? {
        guard let own = self.client, own >= client else { return self }
        guard own > client else { return nil }
        let who = own - 1
        return switch self {
        case .clock(_, let by): .clock(who, by: by)
        case .write(_, let edits): .write(who, edits)
        case .upload(_, let entries): .upload(who, entries: entries)
        case .arrive: .arrive(who)
        case .again: .again(who)
        case .download(_, let bytes): .download(who, bytes: bytes)
        case .integrate: .integrate(who)
        case .reconnect: .reconnect(who)
        case .reload: .reload(who)
        case .reset(_, let mode): .reset(who, mode)
        case .terminate, .hostile, .quiet: self
        }
    }

    fileprivate var simpler: [SimulationStep] {
        switch self {
        case .clock(let who, let by) where by.magnitude > 1: [.clock(who, by: by.signum())]
        case .upload(let who, let entries) where entries != 1_000: [.upload(who, entries: 1_000)]
        case .download(let who, let bytes) where bytes != 100_000: [.download(who, bytes: 100_000)]
        default: []
        }
    }
}

extension Edit {
    /// The same edit with smaller operands, the smallest first.
    fileprivate var simpler: [Edit] {
        var simpler: [Edit] = []
        if let value, value.number > 1 {
            for number in [Int64(0), 1] {
                var edit = self
                edit.value?.number = number
                simpler.append(edit)
            }
        }
        if let value, ![.int, .link, .object, .list, .dictionary].contains(value.kind) {
            var edit = self
            edit.value = SimulatedValue(.int, value.number)
            simpler.append(edit)
        }
        if let number, number > 1 {
            var edit = self
            edit.number = 1
            simpler.append(edit)
        }
        for (position, step) in steps.enumerated() {
            if case .index(let index) = step, index > 0 {
                var edit = self
                edit.steps[position] = .index(0)
                simpler.append(edit)
            }
        }
        return simpler
    }
}
