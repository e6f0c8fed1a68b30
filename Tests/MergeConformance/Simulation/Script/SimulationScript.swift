/// A simulation as text: what it starts with, and what happens, one step a line. A line that begins with `#` is a remark.
///
///     rules convergent
///     clients 2
///     setup table T int; column T/l int list; create T/1
///     1 write insert T/1/l/0 int(1)
///     2 write insert T/1/l/0 int(2)
///     quiet
package struct SimulationScript: Hashable, Sendable, CustomStringConvertible {
    package var remarks: [String] = []
    package var rules: SimulationRules
    package var clients: Int
    /// Written by the server before the first client comes.
    package var setup: [Edit]
    package var steps: [SimulationStep]

    package static let maxClients = 64

    package init(rules: SimulationRules, clients: Int, setup: [Edit], steps: [SimulationStep] = []) {
        self.rules = rules
        self.clients = clients
        self.setup = setup
        self.steps = steps
    }

    package var description: String {
        var lines = remarks.map { "# \($0)" }
        lines += ["rules \(rules.rawValue)", "clients \(clients)"]
        lines += setup.isEmpty ? [] : ["setup \(setup.map(\.description).joined(separator: "; "))"]
        lines += steps.map(\.description)
        return lines.joined(separator: "\n") + "\n"
    }

    package init(parsing text: String) throws(ScriptError) {
        self.init(rules: .convergent, clients: 2, setup: [])
        for (number, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            do throws(ScriptError) {
                try parse(line: line)
            } catch {
                throw ScriptError(error.message, line: number + 1)
            }
        }
    }

    private mutating func parse(line: Substring) throws(ScriptError) {
        let words = line.split(separator: " ", maxSplits: 1)
        guard let first = words.first else { return }
        let rest = words.count > 1 ? String(words[1]) : ""
        switch first {
        case "#": remarks.append(rest)
        case "rules":
            guard let rules = SimulationRules(rawValue: rest) else {
                throw ScriptError("expected convergent, stock or mixed, found '\(rest)'")
            }
            self.rules = rules
        case "clients":
            guard let count = Int(rest), (1...Self.maxClients).contains(count) else {
                throw ScriptError("expected 1 to \(Self.maxClients) clients, found '\(rest)'")
            }
            clients = count
        case "setup": setup += try SimulationStep.edits(rest)
        default: steps.append(try SimulationStep(parsing: line))
        }
    }

    /// The edits that are not part of the setup.
    package var editCount: Int {
        steps.reduce(0) { count, step in
            if case .write(_, let edits) = step { count + edits.count } else { count }
        }
    }
}
