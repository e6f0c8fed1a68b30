import Changesets
import ExtendedJSON
import RealmState

/// Operators of updates as instructions.
extension WriteRecorder {
    mutating func apply(
        _ update: FieldUpdate, to address: ObjectAddress, _ table: TableSchema
    ) throws(DocumentError) {
        do throws(DocumentError) {
            if update.path.first == table.key?.name {
                return try check(update, leaves: address.key, table)
            }
            switch update.op {
            case .set(let value):
                guard let place = try place(update.path, in: address, table, creating: true) else { return }
                try write(try self.value(value, at: place), at: place)
            case .unset:
                guard let place = try place(update.path, in: address, table, creating: false) else { return }
                try unset(place)
            case .increment(let operand):
                try change(update, address, table) { recorder, place throws(DocumentError) in
                    try recorder.sum(place, operand)
                }
            case .multiply(let operand):
                try change(update, address, table) { recorder, place throws(DocumentError) in
                    try recorder.product(place, operand)
                }
            case .min(let operand):
                try change(update, address, table) { recorder, place throws(DocumentError) in
                    try recorder.extreme(place, operand, isLess: true)
                }
            case .max(let operand):
                try change(update, address, table) { recorder, place throws(DocumentError) in
                    try recorder.extreme(place, operand, isLess: false)
                }
            case .push(let values, let position):
                guard let place = try place(update.path, in: address, table, creating: true) else { return }
                try push(values, at: position, to: place, update)
            case .addToSet(let values):
                guard let place = try place(update.path, in: address, table, creating: true) else { return }
                try add(values, to: place, update)
            case .pull(let operand):
                guard let place = try place(update.path, in: address, table, creating: false) else { return }
                try pull(operand, from: place, update)
            }
        } catch {
            throw error.within(update.place)
        }
    }

    /// Makes sure that updates, which have found nothing, go with the class: a mistake is told whether or not there is an object.
    func check(_ updates: [FieldUpdate], of table: TableSchema) throws(DocumentError) {
        for update in updates where update.path.first != table.key?.name {
            do throws(DocumentError) {
                try check(update, of: table)
            } catch {
                throw error.within(update.place)
            }
        }
    }

    private func check(_ update: FieldUpdate, of table: TableSchema) throws(DocumentError) {
        let name = update.path.first
        guard let column = table.column(name) else { throw mapping.unknownField(name, table) }
        // The column that a longer path leads to hangs on the object.
        guard update.path.elements.count == 1 else { return }
        switch update.op {
        case .set(let value), .increment(let value), .multiply(let value), .min(let value), .max(let value):
            _ = try mapping.value(value, of: column)
        case .push(let values, _), .addToSet(let values):
            guard [.list, .set].contains(column.collection) || column.collection == .single && column.element.isMixed
            else {
                throw DocumentError(
                    .unsupportedOperator, "\(update.op.name) does not go with \(mapping.schema.text(of: column))")
            }
            for value in values { _ = try mapping.value(value, column.element, inList: true, depth: 1) }
        case .unset, .pull: break
        }
    }

    private func check(
        _ update: FieldUpdate, leaves key: ObjectKey, _ table: TableSchema
    ) throws(DocumentError) {
        if update.path.elements.count == 1, case .set(let value) = update.op, try mapping.key(value, of: table) == key {
            return
        }
        throw DocumentError(.immutableKey, "\(update.path) is the primary key of \(table.name), which never changes")
    }

    private mutating func unset(_ place: WritePlace) throws(DocumentError) {
        switch place.kind {
        case .collection: try recording { () throws(RecordingError) in try transaction.clear(place.address) }
        case .entry: try recording { () throws(RecordingError) in try transaction.removeKey(place.address) }
        case .property(isRequired: true):
            throw DocumentError(
                .missingField, "expected a property that may be null, this one is required: \(text(of: place))")
        case .property, .slot:
            guard place.value != nil else { return }
            try write(try value(.null, at: place), at: place)
        }
    }

    // MARK: Numbers and order

    private enum Change {
        case nothing
        case set(Value)
        case add(Int64)
    }

    private mutating func change(
        _ update: FieldUpdate, _ address: ObjectAddress, _ table: TableSchema,
        _ body: (WriteRecorder, WritePlace) throws(DocumentError) -> Change
    ) throws(DocumentError) {
        guard let place = try place(update.path, in: address, table, creating: true) else { return }
        guard place.kind != .collection else { throw unsupported(update, place) }
        switch try body(self, place) {
        case .nothing: return
        case .set(let value): try write(value, at: place)
        case .add(let delta):
            try recording { () throws(RecordingError) in try transaction.increment(place.address, by: delta) }
        }
    }

    /// - Returns: a number at which nothing is lost; nil for what is no number.
    private func sum(_ place: WritePlace, _ operand: BSONValue) throws(DocumentError) -> Change {
        let operand = try number(operand, at: place)
        guard let current = place.value, current != .null else { return .set(operand) }
        if case .int(let current) = current, case .int(let delta) = operand {
            let (sum, overflow) = current.addingReportingOverflow(delta)
            guard !overflow else { throw beyondIntegers() }
            guard case .property = place.kind else { return .set(.int(sum)) }
            return delta == 0 ? .nothing : .add(delta)
        }
        return .set(try Numbers.sum(current, operand))
    }

    private func product(_ place: WritePlace, _ operand: BSONValue) throws(DocumentError) -> Change {
        let operand = try number(operand, at: place)
        guard let current = place.value, current != .null else { return .set(Numbers.zero(like: operand)) }
        if case .int(let current) = current, case .int(let factor) = operand {
            let (product, overflow) = current.multipliedReportingOverflow(by: factor)
            guard !overflow else { throw beyondIntegers() }
            return .set(.int(product))
        }
        return .set(try Numbers.product(current, operand))
    }

    private func beyondIntegers() -> DocumentError {
        DocumentError(.outOfRange, "expected a result of 64 bits")
    }

    private func number(_ operand: BSONValue, at place: WritePlace) throws(DocumentError) -> Value {
        let value = try self.value(operand, at: place)
        guard Numbers.isNumber(value) else {
            throw DocumentError(.wrongType, "expected a number, came \(operand.typeName) for \(text(of: place))")
        }
        if let current = place.value, current != .null, !Numbers.isNumber(current) {
            throw DocumentError(
                .wrongType, "expected a number to change, it is \(mapping.value(current, place.element).typeName)")
        }
        return value
    }

    private func extreme(
        _ place: WritePlace, _ operand: BSONValue, isLess: Bool
    ) throws(DocumentError) -> Change {
        let new = try value(operand, at: place)
        guard let current = place.value, current != .null else { return .set(new) }
        guard let order = ElementCondition.order(new, current) else {
            throw DocumentError(
                .wrongType, "\(operand.typeName) and \(mapping.value(current, place.element).typeName) have no order")
        }
        return order == 0 || (order < 0) != isLess ? .nothing : .set(new)
    }

    // MARK: Lists and sets

    private mutating func push(
        _ values: [BSONValue], at position: Int?, to place: WritePlace, _ update: FieldUpdate
    ) throws(DocumentError) {
        let values = try elements(values, of: place, update)
        guard !isSet(place) else {
            throw DocumentError(.unsupportedOperator, "expected $addToSet for a set, whose members have no order")
        }
        guard case .list(let items)? = place.value else { return try write(.list(values), at: place) }
        let start = min(position ?? items.count, items.count)
        try recording { () throws(RecordingError) in
            for (offset, value) in values.enumerated() {
                try transaction.insert(value, at: place.address.appending(.index(start + offset)))
            }
        }
    }

    private mutating func add(
        _ values: [BSONValue], to place: WritePlace, _ update: FieldUpdate
    ) throws(DocumentError) {
        let values = try elements(values, of: place, update)
        if case .set(let members)? = place.value {
            var known = mapping.forms(members, place.element)
            try recording { () throws(RecordingError) in
                for value in values where known.insert(mapping.value(value, place.element)).inserted {
                    try transaction.insertIntoSet(value, in: place.address)
                }
            }
            return
        }
        var items: [Value] = []
        if case .list(let present)? = place.value { items = present }
        var known = mapping.forms(items, place.element)
        let new = values.filter { known.insert(mapping.value($0, place.element)).inserted }
        guard case .list? = place.value else { return try write(.list(new), at: place) }
        try recording { () throws(RecordingError) in
            for (offset, value) in new.enumerated() {
                try transaction.insert(value, at: place.address.appending(.index(items.count + offset)))
            }
        }
    }

    private mutating func pull(
        _ operand: BSONValue, from place: WritePlace, _ update: FieldUpdate
    ) throws(DocumentError) {
        guard !(place.element.isMixed && place.isEmpty) else { return }
        let condition = try ElementCondition(operand, place.element, mapping)
        switch place.value {
        case .list(let items)?:
            try recording { () throws(RecordingError) in
                for (index, item) in items.enumerated().reversed() where condition.matches(item) {
                    try transaction.remove(at: place.address.appending(.index(index)))
                }
            }
        case .set(let members)?:
            try recording { () throws(RecordingError) in
                for member in members where condition.matches(member) {
                    try transaction.removeFromSet(member, in: place.address)
                }
            }
        default: throw unsupported(update, place)
        }
    }

    /// The values of elements that are added to a list or set.
    private func elements(
        _ values: [BSONValue], of place: WritePlace, _ update: FieldUpdate
    ) throws(DocumentError) -> [Value] {
        switch place.value {
        case .list?, .set?: break
        case .null?, nil: guard place.element.isMixed else { throw unsupported(update, place) }
        default: throw unsupported(update, place)
        }
        var elements: [Value] = []
        for value in values { elements.append(try mapping.value(value, place.element, inList: true, depth: 1)) }
        return elements
    }

    private func isSet(_ place: WritePlace) -> Bool { place.column?.collection == .set }

    private func unsupported(_ update: FieldUpdate, _ place: WritePlace) -> DocumentError {
        DocumentError(.unsupportedOperator, "\(update.op.name) does not go with \(text(of: place))")
    }

    private func text(of place: WritePlace) -> String {
        place.column.map { mapping.schema.text(of: $0) } ?? mapping.schema.text(of: place.element)
    }
}
