internal import Foundation

/// Where the app has called the SDK: a mistake that stops the program is reported for that line.
struct Caller {
    let file: StaticString
    let line: UInt

    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        pthread_key_create(&key, nil)
        return key
    }()

    /// The innermost call of the app on this thread that is known; nil if none is.
    static var current: Caller? {
        pthread_getspecific(key).map { $0.assumingMemoryBound(to: Caller.self).pointee }
    }

    /// Runs what the app has called for.
    @inline(__always)
    static func at<Result>(
        _ file: StaticString, _ line: UInt, _ body: () throws -> Result
    ) rethrows -> Result {
        let outer = pthread_getspecific(key)
        defer { pthread_setspecific(key, outer) }
        return try withUnsafePointer(to: Caller(file: file, line: line)) { caller in
            pthread_setspecific(key, caller)
            return try body()
        }
    }
}

// The two functions below stand in the SDK for Swift's of the same names, which say nothing in optimized builds: a mistake names its rule there, too.

/// Stops the program unless a condition holds that only a mistake of the app can break.
@inline(__always)
func precondition(
    _ condition: @autoclosure () -> Bool, _ message: @autoclosure () -> String = String(),
    file: StaticString = #fileID, line: UInt = #line
) {
    if !condition() { preconditionFailure(message(), file: file, line: line) }
}

/// Stops the program for a mistake of the app, and names the app's line first if that is known.
@inline(never)
func preconditionFailure(
    _ message: @autoclosure () -> String = String(), file: StaticString = #fileID, line: UInt = #line
) -> Never {
    guard let caller = Caller.current else { fatalError(message(), file: file, line: line) }
    fatalError("\(message()) (\(file):\(line))", file: caller.file, line: caller.line)
}
