/// A law that an input has broken: a fault of ours, whatever the input.
package struct BrokenLaw: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }

    package static func check(_ holds: Bool, _ law: @autoclosure () -> String) throws(BrokenLaw) {
        if !holds { throw BrokenLaw(law()) }
    }
}
