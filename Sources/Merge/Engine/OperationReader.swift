import Changesets

/// Turns instructions into operations: looks up every string, object and set value once.
struct OperationReader {
    /// Far beyond what the reference can store (100 levels of collections), and a bound on what a path costs.
    static let maximumDepth = 1024

    private(set) var symbols = SymbolTable()
    private var elements = ElementTable()
    private let compatibility: PeerCompatibility
    /// The symbols of the current changeset's strings.
    private var local: [Symbol] = []
    /// How many bytes of strings the reference's parser would have seen so far in the current changeset, had it been
    /// encoded in normalized form.
    private var stringBytes: UInt64 = 0

    init(_ compatibility: PeerCompatibility) {
        self.compatibility = compatibility
        // Symbol 0 is the empty string, the target of untyped links.
        _ = symbols.symbol(for: ByteString([]))
    }

    mutating func append(
        _ changeset: Changeset, rank: UInt32, to list: inout OperationList, _ steps: inout PathSteps
    ) throws(MergeError) {
        guard list.operations.count + changeset.instructions.count < Int(UInt32.max) / 2 else {
            throw MergeError(
                code: .malformedChangeset, message: "expected at most \(UInt32.max / 2) instructions in one merge")
        }
        local.removeAll(keepingCapacity: true)
        stringBytes = 0
        for string in changeset.strings.strings {
            local.append(symbols.symbol(for: string))
            stringBytes += UInt64(string.count)
        }
        let number = UInt32(truncatingIfNeeded: list.changesets.count)
        var source: UInt32 = 0
        for instruction in changeset.instructions {
            list.append(
                try read(instruction, rank: rank, changeset: number, source: source, &steps))
            source += 1
        }
        list.append(changeset, operations: changeset.instructions.count)
    }

    private mutating func read(
        _ instruction: Instruction, rank: UInt32, changeset: UInt32, source: UInt32, _ steps: inout PathSteps
    ) throws(MergeError) -> Operation {
        func start(_ code: OperationCode, _ table: InternedString) throws(MergeError) -> Operation {
            Operation(code: code, table: try symbol(table), rank: rank, changeset: changeset, source: source)
        }
        switch instruction {
        case .addTable(let addTable):
            var operation = try start(.addTable, addTable.table)
            try read(addTable.kind, into: &operation)
            return operation
        case .eraseTable(let table):
            return try start(.eraseTable, table)
        case .createObject(let table, let object):
            var operation = try start(.createObject, table)
            operation.object = try self.object(operation.table, object)
            return operation
        case .eraseObject(let table, let object):
            var operation = try start(.eraseObject, table)
            operation.object = try self.object(operation.table, object)
            return operation
        case .addColumn(let addColumn):
            var operation = try start(.addColumn, addColumn.table)
            operation.field = try symbol(addColumn.field)
            operation.type = addColumn.type
            operation.collection = addColumn.collection
            if addColumn.nullable { operation.flags.insert(.nullable) }
            if let target = addColumn.linkTarget { operation.linkTarget = try symbol(target) }
            return operation
        case .eraseColumn(let table, let field):
            var operation = try start(.eraseColumn, table)
            operation.field = try symbol(field)
            return operation
        case .update(let update):
            var operation = try start(.update, update.target.table)
            try read(update.target, into: &operation, &steps)
            operation.type = update.value.type
            if case .int(let value) = update.value { operation.integer = value }
            switch update.qualifier {
            case .isDefault(let isDefault): if isDefault { operation.flags.insert(.isDefault) }
            case .priorSize(let size): operation.priorSize = size
            }
            countBytes(update.value)
            return operation
        case .addInteger(let path, let delta):
            var operation = try start(.addInteger, path.table)
            try read(path, into: &operation, &steps)
            operation.integer = delta
            return operation
        case .arrayInsert(let path, let value, let priorSize):
            var operation = try start(.arrayInsert, path.table)
            try read(path, into: &operation, &steps)
            operation.priorSize = priorSize
            countBytes(value)
            return operation
        case .arrayMove(let path, let destination, let priorSize):
            var operation = try start(.arrayMove, path.table)
            try read(path, into: &operation, &steps)
            operation.destination = destination
            operation.priorSize = priorSize
            return operation
        case .arrayErase(let path, let priorSize):
            var operation = try start(.arrayErase, path.table)
            try read(path, into: &operation, &steps)
            operation.priorSize = priorSize
            return operation
        case .clear(let path, let collection):
            var operation = try start(.clear, path.table)
            try read(path, into: &operation, &steps)
            operation.collection = collection
            return operation
        case .setInsert(let path, let value):
            var operation = try start(.setInsert, path.table)
            try read(path, into: &operation, &steps)
            try read(element: value, into: &operation)
            return operation
        case .setErase(let path, let value):
            var operation = try start(.setErase, path.table)
            try read(path, into: &operation, &steps)
            try read(element: value, into: &operation)
            return operation
        }
    }

    private mutating func read(
        _ path: FieldPath, into operation: inout Operation, _ steps: inout PathSteps
    ) throws(MergeError) {
        operation.object = try object(operation.table, path.object)
        operation.field = try symbol(path.field)
        guard let last = path.path.last else { return }
        guard path.path.count <= Self.maximumDepth else {
            throw MergeError(
                code: .malformedChangeset,
                message: "expected a path of at most \(Self.maximumDepth) steps, found \(path.path.count)")
        }
        operation.depth = UInt32(truncatingIfNeeded: path.path.count)
        operation.container = UInt32(truncatingIfNeeded: steps.count)
        for element in path.path.dropLast() { steps.append(try step(element)) }
        let step = try step(last)
        operation.last = step.value
        if step.isIndex { operation.flags.insert(.endsInIndex) }
    }

    private func step(_ element: PathElement) throws(MergeError) -> PathStep {
        switch element {
        case .index(let index): PathStep(value: index, isIndex: true)
        case .key(let key): PathStep(value: try symbol(key).number, isIndex: false)
        }
    }

    private func read(_ kind: Instruction.AddTable.Kind, into operation: inout Operation) throws(MergeError) {
        switch kind {
        case .embedded:
            operation.flags.insert(.embedded)
        case .topLevel(let keyField, let keyType, let keyNullable, let asymmetric):
            operation.field = try symbol(keyField)
            operation.type = keyType
            if keyNullable { operation.flags.insert(.nullable) }
            if asymmetric { operation.flags.insert(.asymmetric) }
        }
    }

    private mutating func read(element: Payload, into operation: inout Operation) throws(MergeError) {
        operation.type = element.type
        var target = ObjectNumber.none
        if case .link(let table, let key) = element { target = try object(try symbol(table), key) }
        operation.element = elements.number(
            of: element, target: target, unifyingTwins: compatibility.unifiesTwinsInSets)
        if !compatibility.comparesErasedValuesByContent {
            operation.rawElement = elements.rawNumber(of: element, offset: stringBytes)
        }
        countBytes(element)
    }

    private mutating func countBytes(_ payload: Payload) {
        switch payload {
        case .string(let string): stringBytes += UInt64(string.count)
        case .binary(let bytes): stringBytes += UInt64(bytes.count)
        default: break
        }
    }

    private func symbol(_ string: InternedString) throws(MergeError) -> Symbol {
        guard string.index < UInt32(truncatingIfNeeded: local.count) else {
            throw MergeError(
                code: .malformedChangeset,
                message: "expected one of the changeset's \(local.count) strings, found number \(string.index)")
        }
        return local[Int(string.index)]
    }

    private mutating func object(_ table: Symbol, _ key: PrimaryKey) throws(MergeError) -> ObjectNumber {
        var stringKey = Symbol(0)
        if case .string(let string) = key { stringKey = try symbol(string) }
        return symbols.object(ObjectIdentity(table: table, key: key, stringKey: stringKey))
    }
}
