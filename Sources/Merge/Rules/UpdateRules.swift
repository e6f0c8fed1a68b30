import Changesets

/// Section 7: assignments and increments of one and the same slot. What an assignment does to changes further inside
/// is a nested rule.
enum UpdateRules {
    /// 7.2 Two assignments: the newer one wins, but for three exceptions.
    ///
    /// - `emb=ObjectValue @2`, `emb=null @1`: the ObjectValue is gone; making an embedded object never undoes a removal.
    /// - `any=List @1`, `any=List @2`: both pass. Applied to a list, making a list keeps what is in it, and the sides'
    ///   inserts merge. Likewise for two dictionaries.
    /// - `x=1 @1`, `x=2 default @2`: the default is gone. A default counts as written at the beginning of time (7.3).
    ///
    /// `x=1 @1 -> gone`, `x=2 @2`. Dictionaries need nothing more: `d["k"]=Erased @1 -> gone`, `d["k"]=7 @2`.
    static func update(_ left: inout Operation, update right: inout Operation) throws(RuleViolation) {
        if left.endsInIndex, left.priorSize != right.priorSize { throw .listMismatch(.sizesDiffer) }

        if left.type != right.type {
            if left.type == .objectValue { return left.discard() }
            if right.type == .objectValue { return right.discard() }
        } else if left.type == .list || left.type == .dictionary {
            return
        }
        if left.isDefault != right.isDefault {
            if left.isDefault { left.discard() } else { right.discard() }
        } else if left.isOlder(than: right) {
            left.discard()
        } else {
            right.discard()
        }
    }

    /// 7.4 An increment adds to an older value, and is lost with what a newer one replaces.
    ///
    /// - `x=10 @1`, `x+=3 @2`: the assignment becomes `x=13`. Who has added 3 receives 13; who has 10 receives +3.
    /// - `x=10 @2`, `x+=3 @1`: the increment is gone.
    /// - `x=null @1`, `x+=3 @2`: both stay. Adding to null does nothing, but an assignment between the two in rank may
    ///   still come, and then the increment counts.
    /// - `x="text" @1`, `x+=3 @2`: the increment is gone, there is nothing to add to.
    ///
    /// A default is older than any increment. AddInteger x AddInteger has no rule: sums do not mind the order.
    static func addInteger(_ add: inout Operation, update: inout Operation) {
        guard update.isOlder(than: add) || update.isDefault else { return add.discard() }
        switch update.type {
        case .int: update.integer &+= add.integer
        case .null: break
        default: add.discard()
        }
    }
}
