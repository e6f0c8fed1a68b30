/// A consumer as the connection's thread sees it.
final class ConsumerState {
    var subscription: Subscription
    var unacked = UnackedTags()
    /// False once cancelled; it is then kept only until its deliveries are answered.
    var active = true
    /// Set when nobody can take its deliveries any more.
    var dropped = false
    /// What arrived during this turn of the loop.
    var arrived: [AMQPDelivery] = []

    init(_ subscription: Subscription) { self.subscription = subscription }
}
