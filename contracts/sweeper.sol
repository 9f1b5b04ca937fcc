// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

/// What a deposit address gives: `amount` to the destination, and `rest` to where the service's own part goes.
struct Item {
    address account;
    uint256 amount;
    uint256 rest;
}

/// What a deposit address delegates to (EIP-7702). It obeys the sweeper alone, moves tokens alone, and to two addresses
/// alone. It takes native coins and leaves them where they are: the key of the account moves those, and takes the
/// delegation back.
contract Delegate {
    address private immutable sweeper;
    address private immutable destination;
    address private immutable restDestination;

    constructor(address destination_, address restDestination_) {
        sweeper = msg.sender;
        destination = destination_;
        restDestination = restDestination_;
    }

    receive() external payable {}

    function move(address token, uint256 amount, uint256 rest) external {
        require(msg.sender == sweeper);
        if (amount > 0) send(token, destination, amount);
        if (rest > 0) send(token, restDestination, rest);
    }

    function send(address token, address to, uint256 amount) private {
        assembly ("memory-safe") {
            let call_ := mload(0x40)
            mstore(call_, shl(224, 0xa9059cbb)) // transfer(address,uint256)
            mstore(add(call_, 4), to)
            mstore(add(call_, 36), amount)
            mstore(0, 0)
            let done := call(gas(), token, 0, call_, 68, 0, 32)
            // A token is code that answers true, or nothing at all, as USDT does.
            let answered := or(eq(mload(0), 1), iszero(returndatasize()))
            if iszero(and(and(done, answered), gt(extcodesize(token), 0))) {
                revert(0, 0)
            }
        }
    }
}

/// Moves the tokens of many deposit addresses at once. One operator may call it, and it makes one delegate for each pair
/// of a destination and one for the rest; that is zero where all goes to the destination.
contract Sweeper {
    address public immutable operator;

    constructor(address operator_) {
        operator = operator_;
    }

    /// All move, or none.
    function sweep(address token, address destination, address restDestination, Item[] calldata items) external {
        require(msg.sender == operator);
        if (delegateOf(destination, restDestination).code.length == 0)
            new Delegate{salt: 0}(destination, restDestination);
        for (uint256 i = 0; i < items.length; i++) {
            // Of an account without code this call fails: nothing is taken for moved that was not.
            Delegate(payable(items[i].account)).move(token, items[i].amount, items[i].rest);
        }
    }

    /// Where the delegate of a pair of destinations is, or will be.
    function delegateOf(address destination, address restDestination) public view returns (address) {
        bytes memory arguments = abi.encode(destination, restDestination);
        bytes32 code = keccak256(abi.encodePacked(type(Delegate).creationCode, arguments));
        return address(uint160(uint256(keccak256(abi.encodePacked(bytes1(0xff), address(this), bytes32(0), code)))));
    }
}
