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
    /// Some fields of every object.
    case someFields
    case depends
}

/// The reach of users whom nobody has given anything, by a list of roles.
private struct StrangerReach: Equatable {
    /// `depends` where no role is for strangers, and roles for others are there.
    var reach: Reach
    /// Whether a role that comes before theirs says something else of some users.
    var hasExceptions = false
    /// Whether strangers may do something.
    var isOpen: Bool
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

    /// Says that users may do something to whom nobody has given anything: then it matters who can become a user.
    package func isForEveryUser(in mode: SyncMode) -> Bool {
        switch mode {
        case .partition: partition?.isOpen ?? false
        case .flexible: ([defaultRoles ?? []] + classes.values).contains(where: \.strangers.isOpen)
        }
    }

    private static func sentence(of reach: Reach) -> String {
        switch reach {
        case .nothing: nobody
        case .readAll: "every user may read every partition, nobody may write"
        case .everything: "every user may read and write every partition"
        case .own: "every user may read and write the partition that is named by the user's id, and no other"
        case .readAllWriteOwn, .readAllWriteSome:
            "every user may read every partition; who may write is decided by rules of the app's own"
        case .someFields, .depends: "who may read and write a partition is decided by rules of the app's own"
        }
    }

    // MARK: Roles

    private var rolesSentence: String {
        let general = (defaultRoles ?? []).strangers
        let own = classes.filter { $0.value.strangers != general || general.isOfItsOwn }.keys.sorted()
        let names = own.count > 5 ? "\(own.count) classes" : "\(own.count == 1 ? "class" : "classes") \(own.shown)"
        if own.isEmpty {
            let isNone = (defaultRoles ?? []).isEmpty && classes.values.allSatisfy(\.isEmpty)
            return isNone ? "\(Self.nobody): there are no roles" : Self.roleSentence(of: general)
        }
        let have = own.count == 1 ? "has roles of its own" : "have roles of their own"
        return Self.roleSentence(of: general) + (general.reach == .nothing ? " but where " : "; ") + "\(names) \(have)"
    }

    private static func roleSentence(of strangers: StrangerReach) -> String {
        let sentence = roleSentence(of: strangers.reach)
        return strangers.hasExceptions ? "\(sentence); roles that come first say otherwise of some users" : sentence
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
        case .someFields:
            "every user may read or write some fields of every object; which is decided by roles of the app's own"
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

    /// Whether strangers may do something: with every partition, with one that is theirs, or with one that nobody has named.
    fileprivate var isOpen: Bool {
        switch reach {
        case .nothing: false
        case .depends:
            RuleUser.strangers.contains { user in
                let scope = RuleScope(user: user, partition: .string(""))
                return read.truth(in: scope) == .true || write.truth(in: scope) == .true
            }
        default: true
        }
    }
}

extension StrangerReach {
    /// Whether the sentence says of no two lists of roles that they are the same.
    fileprivate var isOfItsOwn: Bool { hasExceptions || reach == .depends || reach == .someFields }
}

extension [RuleRole] {
    fileprivate var strangers: StrangerReach {
        guard !isEmpty else { return StrangerReach(reach: .nothing, isOpen: false) }
        guard let index = firstIndex(where: \.isForStrangers) else {
            return StrangerReach(reach: .depends, isOpen: false)
        }
        let reach = self[index].reach
        let isFirst = index == startIndex
        return switch reach {
        case .nothing: StrangerReach(reach: isFirst ? .nothing : .depends, isOpen: false)
        case .depends:
            // Whatever else is asked of the user is not true of a stranger, as far as one can say.
            StrangerReach(reach: .depends, isOpen: self[index].isForOwners)
        default: StrangerReach(reach: reach, hasExceptions: !isFirst, isOpen: true)
        }
    }
}

extension RuleUser {
    /// Users to whom nobody has given anything, by the ways in which anybody can become a user.
    fileprivate static let strangers = ["anon-user", "local-userpass"].map { provider in
        RuleUser(id: "stranger", identities: [Identity(id: "stranger", providerType: provider)])
    }
}

extension RuleRole {
    /// Whether the role is that of users to whom nobody has given anything.
    fileprivate var isForStrangers: Bool {
        applyWhen.isUnconditional
            || RuleUser.strangers.contains { applyWhen.truth(in: RuleScope(user: $0)) == .true }
    }

    /// Whether users may do something with objects that have their id.
    fileprivate var isForOwners: Bool { readFilter.ownerProperty != nil || writeFilter.ownerProperty != nil }

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
        let isOfEveryObject = reads == .true || writes == .true
        if writesNothing { return seesAll ? .readAll : isOfEveryObject ? .someFields : .depends }
        let writesAll =
            names.allSatisfy(closed.mayWrite) && insert.root.constantTruth == .true
            && delete.root.constantTruth == .true
        if writesAll, writes == .true { return .everything }
        if writesAll, let property = writeFilter.ownerProperty {
            if seesAll { return .readAllWriteOwn(property) }
            if reads == .false || readFilter.ownerProperty == property { return .own(property) }
        }
        return seesAll ? .readAllWriteSome : isOfEveryObject ? .someFields : .depends
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
