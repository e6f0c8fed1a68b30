import Changesets

/// Instructions in a row that change one object.
struct EditRun {
    let target: ApplyFocus
    let schema: Schema
    let strings: InternTable
    let compatibility: PeerCompatibility
    let notesLinks: Bool
    /// The objects that the object links to since, if that is noted.
    private(set) var links: [ObjectAddress] = []
    /// Where the next field's column may be.
    private var column = 0

    init(
        _ target: ApplyFocus, _ schema: Schema, _ strings: InternTable, _ compatibility: PeerCompatibility,
        notesLinks: Bool
    ) {
        self.target = target
        self.schema = schema
        self.strings = strings
        self.compatibility = compatibility
        self.notesLinks = notesLinks
    }

    /// Changes the object by the instructions from a position on, until one changes something else.
    ///
    /// - Parameter position: afterwards, of that one, or of the one that fails.
    mutating func edit(
        _ object: inout StoredObject, by instructions: UnsafeBufferPointer<Instruction>, _ position: inout Int
    ) throws(RealmStateError) {
        while position < instructions.count, instructions[position].changes(target.object, of: target.name) {
            try edit(&object, by: instructions[position])
            position += 1
        }
    }

    private mutating func edit(
        _ object: inout StoredObject, by instruction: Instruction
    ) throws(RealmStateError) {
        guard let path = instruction.fieldPath else { return }
        let field = try strings.name(path.field)
        var value: Value?
        if let payload = instruction.payload { value = try schema.value(payload, strings) }
        if notesLinks, case .link(let link) = value { links.append(link) }
        let table = target.table
        guard let position = table.position(of: field, near: column) else {
            throw .bad(table.key?.name == field ? "a primary key cannot be changed" : "no such field")
        }
        column = position + 1
        // Nearly all instructions give a property with one value another.
        if let value, value.isPlain, path.path.isEmpty, table.columns[position].collection == .single,
            case .update = instruction
        {
            try table.columns[position].element.check(value, inList: false)
            object[table.columns[position].id] = value
            return
        }
        let editor = FieldEditor(
            schema: schema, strings: strings, compatibility: compatibility, instruction: instruction, value: value)
        let column = table.columns[position]
        try editor.edit(&object[column], of: column, path.path[...])
    }
}
