/// The changes that a change follows: whoever has an earlier last place than one of these has missed something.
package struct ChangePredecessors: Hashable, Sendable {
    /// The change before it in its realm; nil if there is none, or nobody knows.
    package var inRealm: ChangePlace?
    /// The change before it of its class, for those who follow the class alone.
    package var inClass: ChangePlace?

    package init(inRealm: ChangePlace? = nil, inClass: ChangePlace? = nil) {
        self.inRealm = inRealm
        self.inClass = inClass
    }
}
