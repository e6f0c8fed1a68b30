/// One change by a script's author, in terms of the realm and not of instructions.
///
/// An edit that does not fit the state it meets does nothing, and an index beyond a list's end counts from its start
/// again, so every part of a script is a script.
package struct Edit: Hashable, Sendable, CustomStringConvertible {
    package enum Verb: String, CaseIterable, Sendable {
        /// `create T/1`, `erase T/1`
        case create, erase
        /// `set T/1/any/0/k int(5)`; `default` likewise, as a schema's default
        case set, `default`
        /// `add T/1/n 3`
        case add
        /// `insert T/1/l/0 int(5)`, `remove T/1/l/0`, `move T/1/l/0 2`
        case insert, remove, move
        /// `clear T/1/l`
        case clear
        /// Members of sets: `include T/1/s int(5)`, `exclude T/1/s int(5)`
        case include, exclude
        /// Entries of dictionaries: `drop T/1/d/k`
        case drop
        /// `table T int`, `embedded E`, `column T/x int list`, `column T/l link? E`
        case table, embedded, column
        case eraseTable = "erase-table"
        case eraseColumn = "erase-column"
    }

    package enum Step: Hashable, Sendable {
        case index(Int)
        case key(String)
    }

    package var verb: Verb
    package var table: String
    package var object: Int64?
    package var field: String?
    package var steps: [Step] = []
    package var value: SimulatedValue?
    /// What is added, or where an element goes.
    package var number: Int64?
    /// What follows a schema edit's name.
    package var details: [String] = []

    package init(_ verb: Verb, _ table: String, _ object: Int64? = nil, _ field: String? = nil, _ steps: Step...) {
        self.verb = verb
        self.table = table
        self.object = object
        self.field = field
        self.steps = steps
    }

    package var description: String {
        var place = table
        if let object { place += "/\(object)" }
        if let field { place += "/\(field)" }
        for step in steps {
            switch step {
            case .index(let index): place += "/\(index)"
            case .key(let key): place += "/\(key)"
            }
        }
        var words = [verb.rawValue, place]
        if let value { words.append(value.description) }
        if let number { words.append(String(number)) }
        return (words + details).joined(separator: " ")
    }

    package init(parsing text: some StringProtocol) throws(ScriptError) {
        let parts = text.split(separator: " ")
        let words = parts.map { String($0) }
        guard words.count >= 2, let verb = Verb(rawValue: words[0]) else {
            throw ScriptError("expected an edit such as 'set T/1/x int(5)', found '\(text)'")
        }
        let place = words[1].split(separator: "/").map(String.init)
        guard let table = place.first else { throw ScriptError("expected a class, found '\(words[1])'") }
        self.init(verb, table)
        switch verb {
        case .table, .embedded, .eraseTable: details = Array(words.dropFirst(2))
        case .column, .eraseColumn:
            guard place.count == 2 else { throw ScriptError("expected a class and a field, found '\(words[1])'") }
            field = place[1]
            details = Array(words.dropFirst(2))
        default:
            guard place.count >= 2, let object = Int64(place[1]) else {
                throw ScriptError("expected a class and an object's number, found '\(words[1])'")
            }
            self.object = object
            if place.count > 2 { field = place[2] }
            steps = place.dropFirst(3).map { step in Int(step).map(Step.index) ?? .key(step) }
            try parseOperand(words)
        }
    }

    private mutating func parseOperand(_ words: [String]) throws(ScriptError) {
        let operand = words.count == 3 ? words[2] : nil
        switch verb {
        case .set, .default, .insert, .include, .exclude:
            guard let operand else { throw ScriptError("expected a value after '\(words.joined(separator: " "))'") }
            value = try SimulatedValue(parsing: operand)
        case .add, .move:
            guard let number = operand.flatMap({ Int64($0) }) else {
                throw ScriptError("expected a number after '\(words.joined(separator: " "))'")
            }
            self.number = number
        default: break
        }
    }
}
