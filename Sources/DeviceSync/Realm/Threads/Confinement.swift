internal import Dispatch
internal import Foundation

/// The thread, queue or actor to which a live realm belongs, with its objects and collections.
enum Confinement: Sendable {
    /// The main queue, and with it the main actor and, before `dispatchMain()`, the main thread.
    case main
    case thread(ThreadMark)
    case queue(DispatchQueue)
    case actor(any Actor)
    /// A task outside of any actor, by its hash.
    case task(Int)

    /// Tells places apart.
    enum Place: Hashable, Sendable {
        case main
        case object(ObjectIdentifier)
        case task(Int)
    }

    /// Where the caller runs: a task outside of any actor goes on with another thread after each `await`, and so does an asynchronous `main`, which begins on the main
    /// thread. On a queue for which a realm was opened or observed, that queue.
    static func here(_ isolation: (any Actor)? = nil) -> Confinement {
        if let isolation { return Confinement(isolation) }
        if let task = withUnsafeCurrentTask(body: { $0?.hashValue }) { return .task(task) }
        if isOnMain { return .main }
        if case .queue(let queue)? = DispatchQueue.getSpecific(key: key) { return .queue(queue.queue) }
        return .thread(.here)
    }

    /// Where the caller runs, for code that cannot know its actor: of the actors, only the main one is found, if it has the realm open.
    static func here(with core: RealmCore) -> Confinement {
        here().known(to: core)
    }

    /// The main queue in the place of a task that runs on it while the realm is open there: code that the main actor calls cannot know its actor.
    func known(to core: RealmCore) -> Confinement {
        if case .task = self, Self.isOnMain, core.views.known(.main) != nil { .main } else { self }
    }

    init(_ actor: any Actor) { self = actor is MainActor ? .main : .actor(actor) }

    /// Nil for a concurrent queue of the system's, which is no place of its own.
    init?(_ queue: DispatchQueue) {
        // The main queue has a new object each time that it is asked for.
        guard queue.label != DispatchQueue.main.label else {
            self = .main
            return
        }
        guard !queue.label.hasPrefix("com.apple.root.") else { return nil }
        queue.setSpecific(key: Self.key, value: .queue(UnownedQueue(queue: queue)))
        self = .queue(queue)
    }

    /// What a queue is known by to the code that runs on it.
    private enum QueueMark: Sendable {
        case main
        case queue(UnownedQueue)
    }

    /// A queue that does not keep itself alive by its own mark. Whoever finds the mark runs on the queue.
    private struct UnownedQueue: Sendable {
        unowned let queue: DispatchQueue
    }

    /// The key by which code finds out on which queue it runs.
    private static let key = DispatchSpecificKey<QueueMark>()

    /// Marks the main queue by the key.
    private static let mainIsMarked: Bool = {
        DispatchQueue.main.setSpecific(key: key, value: .main)
        return true
    }()

    /// The main queue leaves the main thread when a program calls `dispatchMain()`, as an asynchronous `main` does.
    private static var isOnMain: Bool {
        // Marked before the queue is asked for it.
        if Thread.isMainThread { return true }
        if mainIsMarked, case .main? = DispatchQueue.getSpecific(key: key) { return true }
        return false
    }

    private static func isOn(_ queue: DispatchQueue) -> Bool {
        if case .queue(let mark)? = DispatchQueue.getSpecific(key: key) { mark.queue === queue } else { false }
    }

    /// Whether code elsewhere traps that uses what belongs to the place. Code that runs there does so in turns, one after the other.
    var isChecked: Bool { if case .task = self { false } else { true } }

    /// Whether blocks can be sent to the place.
    var place: DeliveryPlace? {
        switch self {
        case .main: .queue(.main)
        case .thread, .task: nil
        case .queue(let queue): .queue(queue)
        case .actor(let actor): .actor(actor)
        }
    }

    var identity: Place {
        switch self {
        case .main: .main
        case .thread(let mark): .object(ObjectIdentifier(mark))
        case .queue(let queue): .object(ObjectIdentifier(queue))
        case .actor(let actor): .object(ObjectIdentifier(actor))
        case .task(let task): .task(task)
        }
    }

    func isSame(as other: Confinement?) -> Bool { identity == other?.identity }

    /// Traps unless the caller runs where the realm belongs.
    func check(_ name: @autoclosure () -> String) {
        switch self {
        case .main: precondition(Self.isOnMain, message(name()))
        case .thread(let mark): precondition(mark.isHere, message(name()))
        case .queue(let queue): precondition(Self.isOn(queue), message(name()))
        case .task: break
        // Swift's runtime traps first, with a message of its own that names the actor.
        case .actor(let actor): actor.preconditionIsolated(message(name()))
        }
    }

    private func message(_ name: String) -> String {
        "incorrect thread: \(name) was opened on \(description), and it and its objects can be used there only. Open the realm where it "
            + "is needed, or hand over a frozen object, a ThreadSafeReference or a primary key"
    }

    private var description: String {
        switch self {
        case .main: "the main thread or queue"
        case .thread: "another thread"
        case .queue(let queue): "the queue '\(queue.label)'"
        case .actor(let actor): "the actor \(type(of: actor))"
        case .task: "a task"
        }
    }
}

/// Tells a thread from a later one, to which the system may give the same number.
final class ThreadMark: Sendable {
    private static let key = "DeviceSync.ThreadMark"
    private let thread = pthread_self()

    /// Whether the caller runs on the thread.
    var isHere: Bool { pthread_equal(thread, pthread_self()) != 0 }

    /// The calling thread's.
    static var here: ThreadMark {
        let marks = Thread.current.threadDictionary
        if let mark = marks[key] as? ThreadMark { return mark }
        let mark = ThreadMark()
        marks[key] = mark
        return mark
    }
}

/// Where an observer is called.
enum DeliveryPlace: Sendable {
    case queue(DispatchQueue)
    case actor(any Actor)
    /// Where somebody reads what there is to tell, which is where the realm belongs.
    case reader(Turns)

    /// Calls the block there. Blocks for one queue or actor that are sent one after the other has run run in this order.
    func async(_ block: @escaping @Sendable () -> Void) {
        switch self {
        case .queue(let queue): queue.async(execute: block)
        case .actor(let actor): Task { await actor.run(block) }
        case .reader(let turns): turns.add(block)
        }
    }

    var confinement: Confinement? {
        switch self {
        case .queue(let queue): Confinement(queue)
        case .actor(let actor): Confinement(actor)
        case .reader: nil
        }
    }
}

extension Actor {
    fileprivate func run(_ block: @Sendable () -> Void) { block() }
}

extension RealmInstance {
    /// Traps unless the caller runs where the realm was opened.
    func checkThread() { view?.confinement?.check("the realm \(configuration.placeName)") }

    /// Where observers are called: on the queue that they name, else where the realm belongs, or on the main queue if that is a thread.
    func deliveryPlace(_ queue: DispatchQueue?) -> DeliveryPlace {
        if let queue { return .queue(queue) }
        return view?.confinement?.place ?? .queue(.main)
    }

    /// The instance for observers that are called at a place: this one if it can be used there.
    func delivered(at place: DeliveryPlace) -> RealmInstance {
        if case .reader = place { return self }
        guard let confinement = view?.confinement, confinement.isChecked, !confinement.isSame(as: place.confinement)
        else { return self }
        return RealmInstance(
            core: core, configuration: configuration, session: session, confinement: place.confinement)
    }
}
