/// Section 6: objects come and go.
///
/// CreateObject x CreateObject has no rule: making an object that exists is harmless when applied, so both sides'
/// creations pass and the fields set by each come together in one object.
/// `A: Create Dog[1], name="Rex"`, `B: Create Dog[1], age=3`: one dog, named Rex, aged 3.
enum ObjectRules {
    /// 6.1 Erasing wins over creating, even over a newer creation: the one who erases knew the object, the other did not
    /// know that it was there.
    ///
    /// `A@1: Create Dog[1], age=5, Erase Dog[1]`, `B@2: Create Dog[1] -> gone`: there is no dog.
    static func eraseObject(_ erase: Operation, createObject create: inout Operation) {
        if erase.object == create.object { create.discard() }
    }

    /// 6.2 Of two erasures the newer stays. It has to, because it may be followed by the newest side's own creation, which
    /// must outlive every erasure of the older side.
    ///
    /// `A@1: Erase, Create, age=1`, `B@2: Erase, Create, age=2`: A's Erase is gone against B's, and so is, by the same
    /// Erase of B's, all that A does afterwards. The dog is 2.
    static func eraseObject(_ left: inout Operation, eraseObject right: inout Operation) {
        guard left.object == right.object else { return }
        if left.isOlder(than: right) { left.discard() } else { right.discard() }
    }
}
