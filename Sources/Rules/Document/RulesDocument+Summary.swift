package import SyncModel

/// What every user may do, as far as rules say the same of all.
private enum Reach: Equatable {
    case nothing
    case readAll
    case everything
    /// Data that names the user: the partition, or objects by this property.
    case own(String)
    case readAllWriteOwn(String)
    /// Everybody may read, some may write.
    case readAllWriteSome
    case depends
}

extension RulesDocument {
    /// A sentence for what is in force for an app of a sync mode.
    package func summary(for mode: SyncMode) -> String {
        let said =
            switch mode {
            case .partition:
                partition.map { Self.sentence(of: $0.reach) } ?? Self.nobody + ": there are no partition rules"
            case .flexible: rolesSentence
            }
        return generated == "upgrade" ? "\(said) (made by an upgrade, so that nobody was shut out)" : said
    }

    /// The summary of an app that has no rules at all.
    package static let summaryOfNone = "\(nobody): the app has no rules yet"

    private static let nobody = "nobody may read or write"

    /// Says that every user may do something, whoever that is: then it matters who can become one.
    package func isForEveryUser(in mode: SyncMode) -> Bool {
        let lists = [defaultRoles ?? []] + classes.values
        let reaches = mode == .partition ? [partition?.reach ?? .nothing] : lists.map(\.reach)
        return reaches.contains { $0 != .nothing && $0 != .depends }
    }

    private static func sentence(of reach: Reach) -> String {
        switch reach {
        case .nothing: nobody
        case .readAll: "every user may read every partition, nobody may write"
        case .everything: "every user may read and write every partition"
        case .own: "every user may read and write the partition that is named by the user's id, and no other"
        case .readAllWriteOwn, .readAllWriteSome:
            "every user may read every partition; who may write is decided by rules of the app's own"
        case .depends: "who may read and write a partition is decided by rules of the app's own"
        }
    }

    // MARK: Roles

    private var rolesSentence: String {
        let general = (defaultRoles ?? []).reach
        let own = classes.filter { $0.value.reach != general || general == .depends }.keys.sorted()
        let names = own.count > 5 ? "\(own.count) classes" : "\(own.count == 1 ? "class" : "classes") \(own.shown)"
        if own.isEmpty {
            let isNone = (defaultRoles ?? []).isEmpty && classes.values.allSatisfy(\.isEmpty)
            return isNone ? "\(Self.nobody): there are no roles" : Self.roleSentence(of: general)
        }
        let have = own.count == 1 ? "has roles of its own" : "have roles of their own"
        return Self.roleSentence(of: general) + (general == .nothing ? " but where " : "; ") + "\(names) \(have)"
    }

    private static func roleSentence(of reach: Reach) -> String {
        switch reach {
        case .nothing: nobody
        case .readAll: "every user may read every object, nobody may write"
        case .everything: "every user may read and write every object"
        case .own(let property):
            "every user may read and write the objects whose \(property.shown) is the user's id, and no other"
        case .readAllWriteOwn(let property):
            "every user may read every object, and write those whose \(property.shown) is the user's id"
        case .readAllWriteSome: "every user may read every object; who may write is decided by roles of the app's own"
        case .depends: "who may read and write an object is decided by roles of the app's own"
        }
    }
}

extension RulesDocument.Partition {
    fileprivate var reach: Reach {
        let reads = read.root.constantTruth
        if write.isOwnPartition, read.isOwnPartition || reads == .false { return .own("") }
        switch (reads, write.root.constantTruth) {
        case (_, .true): return .everything
        case (.true, .false): return .readAll
        case (.true, _): return .readAllWriteSome
        case (.false, .false): return .nothing
        default: return .depends
        }
    }
}

extension [RuleRole] {
    fileprivate var reach: Reach {
        guard let first else { return .nothing }
        return first.applyWhen.isUnconditional ? first.reach : .depends
    }
}

extension RuleRole {
    fileprivate var reach: Reach {
        // What may be done with a property depends on no user.
        let closed = ClosedRole(self, in: RuleScope(user: RuleUser(id: "")))
        // No property is called so: it stands for all that are not named.
        let names = [""] + fields.keys
        let (reads, writes) = (readFilter.root.constantTruth, writeFilter.root.constantTruth)
        let isInvisible = reads == .false && writes == .false
        let writesNothing =
            writes == .false
            || !fields.values.contains(where: \.allowsWriting) && !names.contains(where: closed.mayWrite)
        if isInvisible || writesNothing && !names.contains(where: closed.mayRead) { return .nothing }
        let readsAll = names.allSatisfy(closed.mayRead)
        let seesAll = readsAll && (reads == .true || writes == .true)
        if writesNothing { return seesAll ? .readAll : .depends }
        let writesAll =
            names.allSatisfy(closed.mayWrite) && insert.root.constantTruth == .true
            && delete.root.constantTruth == .true
        if writesAll, writes == .true { return .everything }
        if writesAll, let property = writeFilter.ownerProperty {
            if seesAll { return .readAllWriteOwn(property) }
            if reads == .false || readFilter.ownerProperty == property { return .own(property) }
        }
        return seesAll ? .readAllWriteSome : .depends
    }
}

extension RuleExpression {
    private static let userID = Expansion.user(["id"])

    /// The partition is to be named by the user's id.
    fileprivate var isOwnPartition: Bool {
        guard case .clause(let clause) = root, clause.comparison == .equal, case .expansion(let one) = clause.subject,
            case .expansion(let other) = clause.operand
        else { return false }
        return Set([one, other]) == [.partition, Self.userID]
    }

    /// The property that must hold the user's id, if that is all the condition asks for.
    fileprivate var ownerProperty: String? {
        guard case .clause(let clause) = root, clause.comparison == .equal, case .property(let name) = clause.subject,
            case .expansion(let expansion) = clause.operand, expansion == Self.userID
        else { return nil }
        return name
    }
}
