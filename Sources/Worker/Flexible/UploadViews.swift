import Changesets
import RealmState
import SyncModel
import Views

/// The views by which one upload is judged, and what they have said: a view is read when there is an object that it is asked about, and asked
/// again only about what has changed of the object.
final class UploadViews {
    /// The numbers of the views that the client file has had.
    let history: ViewHistory<Int>
    /// The roles that the client's session has, which may be newer than its view's.
    let roles: View?
    let closedRoles: String
    /// Nil if the client has the realm's schema as it is.
    let mapping: SchemaMapping?
    /// The schema version of the client's copy.
    let schemaVersion: SchemaVersion?
    /// What asking views has taken, in steps of merging.
    private(set) var steps: UInt64 = 0
    /// What reading them has taken, which the slice's owner counts by itself (`ViewCache.takeCost`).
    private(set) var readSteps: UInt64 = 0

    private let base: WriteJudge<Int>
    private let context: RealmContext
    /// The schema as it is when the upload is judged: roles are asked while the realm's state is being changed.
    private let schema: Schema
    private let definitions: [ViewDefinition]
    /// The numbers of the views' roles, by the views' numbers: equal ones are the same roles.
    private let rolesOfViews: [Int]
    private var read: [Int: View] = [:]
    /// The properties that roles hide, by class and the roles' number.
    private var hidden: [ByteString: [Int: Set<ColumnID>]] = [:]
    private var present: [ObjectAddress: (seen: [Value?], isIn: Bool)] = [:]
    private var filters: [ObjectAddress: TableRole.FilterMemo] = [:]

    /// The steps of merging that asking a view about an object takes.
    private static let stepsPerAsking: UInt64 = 64

    init(_ views: ClientViews, in context: RealmContext) {
        self.context = context
        schema = context.state.schema
        let segments = views.views.segments
        definitions = segments.map(\.view)
        var last = (text: "", number: 0)
        rolesOfViews = segments.map { segment in
            if segment.view.roles != last.text { last = (segment.view.roles, last.number + 1) }
            return last.number
        }
        let numbers = rolesOfViews
        history = ViewHistory(
            segments.indices.map { index in
                let segment = segments[index]
                return .init(
                    start: segment.start, view: index, since: segment.since,
                    isRenewal: index > 0
                        && (segments[index - 1].view == segment.view || numbers[index - 1] != numbers[index])
                )
            })
        closedRoles = views.roles
        schemaVersion = context.schemaVersion(of: views)
        roles = try? context.view(.empty(roles: views.roles), as: schemaVersion)
        mapping = (roles ?? context.nothing(for: views)).mapping
        base = WriteJudge(views: history, isIn: { _, _ in false })
    }

    func role(ofClass name: ByteString) -> TableRole? { roles?[name]?.role }

    // MARK: Judging

    /// How one object's past is read.
    func judge(of address: ObjectAddress) -> WriteJudge<Int> {
        base.asking(
            isIn: { [self] object, number in
                steps += Self.stepsPerAsking
                return view(number)[address.className]?.contains(object, address.key) ?? false
            },
            isUnclear: { [self] object, number in
                view(number)[address.className]?.isUnclear(object, address.key) ?? false
            },
            isShownAlike: { [self] old, new in
                rolesOfViews[old] == rolesOfViews[new]
                    || hidden(old, address.className) == hidden(new, address.className)
            })
    }

    /// Whether the present view has an object as it is now.
    func isInView(_ object: StoredObject?, _ address: ObjectAddress) -> Bool {
        guard let object, let latest = history.latest, let view = view(latest)[address.className] else { return false }
        let seen = view.columns.map { object[$0] }
        if let known = present[address], known.seen == seen { return known.isIn }
        steps += Self.stepsPerAsking
        let isIn = view.contains(object, address.key)
        present[address] = (seen, isIn)
        return isIn
    }

    /// Whether the role allows a step.
    func allows(_ step: ObjectStep, _ address: ObjectAddress, last: StoredObject?) -> Bool {
        guard let role = role(ofClass: address.className) else { return false }
        return role.allows(step, address.key, last: last, memo: &filters[address, default: TableRole.FilterMemo()])
    }

    private func hidden(_ number: Int, _ className: ByteString) -> Set<ColumnID> {
        let roles = rolesOfViews[number]
        if let known = hidden[className]?[roles] { return known }
        // Whatever it selects.
        let view = try? context.view(.empty(roles: definitions[number].roles), as: schemaVersion, in: schema)
        let columns = view?[className]?.role?.hiddenColumns ?? []
        hidden[className, default: [:]][roles] = columns
        return columns
    }

    private func view(_ number: Int) -> View {
        if let view = read[number] { return view }
        let definition = definitions[number]
        let before = context.flexible.views.bytesRead
        // What was a view when it was asked for is one still: the schema only grows.
        let view = (try? context.view(definition, as: schemaVersion, in: schema)) ?? .nothing
        readSteps += UInt64(context.flexible.views.bytesRead - before) * ViewCache.stepsPerByte
        read[number] = view
        return view
    }
}
